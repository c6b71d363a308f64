import type { DetailedError, PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import { CoxswainError } from '../../contracts/index.ts';
import type { CheckedDecision } from '../../gate/index.ts';
import type { CedarEngine } from './cedar-engine.ts';
import { cedarObligations } from './cedar-obligations.ts';
import { ANY_ACTION } from './cedar-schema.ts';

export interface CedarSource {
  /** Named in errors. Default `policy.cedar`. */
  file?: string;
  text: string;
}

/** What a policy comes to where it decides, by the engine's id of it. */
export interface CedarPolicySet {
  readonly text: string;
  readonly decisions: ReadonlyMap<string, CheckedDecision>;
  /** What any policy on an action hides. */
  hiddenOf(action: string): string[];
  /** Where a fault is, from the engine's word for it. */
  fault(error: DetailedError): CoxswainError;
  place(error: DetailedError): string;
}

/** Splits the sources into policies and reads what their annotations oblige to. @throws CoxswainError E_POLICY_FILE */
export function readPolicies(engine: CedarEngine, sources: readonly CedarSource[]): CedarPolicySet {
  const places = new Places(sources);
  const parts = engine.policySetTextToParts(places.text);
  if (parts.type === 'failure') throw places.fault(parts.errors[0] ?? unknown);
  const [template] = parts.policy_templates;
  if (template !== undefined) {
    throw policyFileError(places.of(template), 'a template applies to nothing here; write it as a policy');
  }
  const decisions = new Map<string, CheckedDecision>();
  const hiders: { redact: readonly string[]; actions: readonly string[] | undefined }[] = [];
  const taken = new Map<string, string>();
  let from = 0;
  for (const [engineId, text] of inOrder(parts.policies)) {
    const at = places.text.indexOf(text, from);
    from = at < 0 ? from : at + text.length;
    const place = places.at(at < 0 ? from : at);
    const json = engine.policyToJson(text);
    if (json.type === 'failure') throw places.fault(json.errors[0] ?? unknown);
    const decision = decisionOf(json.json, place);
    const line = `${place.file}:${place.line}`;
    // Several may stand in one line.
    const id = decision.ruleId ?? (taken.has(line) ? `${line}:${place.column}` : line);
    const earlier = taken.get(id);
    if (earlier !== undefined) throw policyFileError(place, `@id("${id}") is taken by the policy at ${earlier}`);
    taken.set(id, line);
    decisions.set(engineId, { ...decision, ruleId: id });
    if (decision.redact) hiders.push({ redact: decision.redact, actions: actionsOf(json.json) });
  }
  return {
    text: places.text,
    decisions,
    hiddenOf: (action) => hiders.flatMap(({ redact, actions }) => (!actions || actions.includes(action) ? redact : [])),
    fault: (error) => places.fault(error),
    place: (error) => places.find(error),
  };
}

/** The engine names policies by their number and gives them in the order of their names. */
function inOrder(parts: readonly string[]): [string, string][] {
  const ids = parts.map((_, index) => `policy${index}`).sort();
  return parts
    .map((text, index): [string, string] => [ids[index] ?? '', text])
    .sort(([a], [b]) => Number(a.slice('policy'.length)) - Number(b.slice('policy'.length)));
}

/** The actions that a policy names; undefined where it may speak about all. */
function actionsOf({ action }: PolicyJson): readonly string[] | undefined {
  const named = 'entities' in action ? action.entities : 'entity' in action ? [action.entity] : [];
  const ids = named.map((entity) => ('__entity' in entity ? entity.__entity.id : entity.id));
  return ids.length === 0 || ids.includes(ANY_ACTION) ? undefined : ids;
}

function decisionOf(json: PolicyJson, place: Place): CheckedDecision {
  try {
    return cedarObligations(json);
  } catch (error) {
    throw policyFileError(place, (error as Error).message);
  }
}

interface Place {
  file: string;
  line: number;
  column: number;
}

const unknown: DetailedError = {
  message: 'the policies cannot be read',
  help: null,
  code: null,
  url: null,
  severity: null,
};

function policyFileError({ file, line }: Place, reason: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_POLICY_FILE', `${file}:${line}: ${reason}`, {
    details: { file, line },
  });
}

/** All sources as one text, and the way back to file and line. */
class Places {
  readonly text: string;
  readonly #starts: { file: string; start: number }[] = [];

  constructor(sources: readonly CedarSource[]) {
    let text = '';
    for (const { file = 'policy.cedar', text: own } of sources) {
      this.#starts.push({ file, start: text.length });
      // Some editors begin a file with a mark.
      text += `${own.replace(/^\ufeff/, '')}\n`;
    }
    this.text = text;
  }

  at(offset: number): Place {
    const source = this.#starts.findLast(({ start }) => start <= offset) ?? { file: 'policy.cedar', start: 0 };
    const lines = this.text.slice(source.start, offset).split('\n');
    return { file: source.file, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
  }

  of(text: string): Place {
    return this.at(Math.max(0, this.text.indexOf(text)));
  }

  /** `file:line`. */
  find(error: DetailedError): string {
    const { file, line } = this.#placeOf(error);
    return `${file}:${line}`;
  }

  fault(error: DetailedError): CoxswainError {
    const message = error.message
      .replace(/^failed to parse policies from string: /, '')
      .replace(/^for policy `[^`]*`, /, '');
    return policyFileError(this.#placeOf(error), error.help ? `${message} (${error.help})` : message);
  }

  #placeOf({ sourceLocations = [] }: DetailedError): Place {
    // The engine counts bytes.
    const bytes = Buffer.from(this.text).subarray(0, sourceLocations[0]?.start ?? 0);
    return this.at(Math.min(bytes.toString().length, this.text.trimEnd().length));
  }
}
