import type { FunctionCallPart, FunctionResponsePart } from '../../../src/contracts/index.ts';
import { canonicalJson } from '../../../src/contracts/index.ts';
import type { StoredEvent } from '../../../src/runtime/index.ts';
import type { Life } from './live.ts';
import { orderFaults } from './order.ts';
import { placeName, sessionName } from './tree.ts';

interface Call {
  id: string;
  /** The same in every life. */
  key: string;
  part: FunctionCallPart;
  /** Its response, as far as the lives may be compared. */
  outcome?: string;
  errorType?: string | undefined;
}

/** The calls of a log with what they came to. */
class Ledger {
  readonly calls = new Map<string, Call>();
  /** Places at which a model answered. */
  readonly said: string[] = [];
  readonly faults: string[] = [];
  /** Accepted re-runs by call id. */
  readonly reruns = new Map<string, number>();

  constructor(log: readonly StoredEvent[]) {
    const asked = new Map<string, string>();
    for (const event of log) {
      for (const ask of event.actions.asks ?? []) asked.set(ask.requestId, ask.kind);
      for (const [id, { action }] of Object.entries(event.actions.answers ?? {})) {
        if (asked.get(id) !== 'rerun_unknown' || action !== 'accept') continue;
        const callId = id.slice(0, id.lastIndexOf('#'));
        this.reruns.set(callId, (this.reruns.get(callId) ?? 0) + 1);
      }
      this.#content(event);
    }
    for (const call of this.calls.values()) {
      if (call.outcome === undefined) this.faults.push(`${call.part.name} ${call.key} dangles`);
    }
  }

  get byKey(): Map<string, Call> {
    return new Map([...this.calls.values()].map((call) => [call.key, call]));
  }

  #content(event: StoredEvent): void {
    const parts = event.content?.parts ?? [];
    const [first] = parts;
    if (event.model !== undefined && first?.type === 'text') this.said.push(first.text);
    for (const part of parts) {
      if (part.type === 'function_call') this.#open(part);
      else if (part.type === 'function_response') this.#close(part);
    }
  }

  #open(part: FunctionCallPart): void {
    this.calls.set(part.id, { id: part.id, key: String(part.args.k), part });
  }

  #close(part: FunctionResponsePart): void {
    const call = this.calls.get(part.id);
    if (!call) this.faults.push(`a response to a call ${part.id} that was never made`);
    else if (call.outcome !== undefined) this.faults.push(`two responses to ${call.key}`);
    else {
      const response = part.name.includes('crowd') ? null : part.response;
      const outcome = canonicalJson({ error: part.errorType ?? null, response });
      // The value of a step is another in every life.
      call.outcome = outcome.replace(/gave v\d+/, 'gave a value');
      call.errorType = part.errorType;
    }
  }
}

/** All that is wrong with a life; `reference` is the same turn with nobody dying. */
export function judge(life: Life, reference?: Life): string[] {
  const ledger = new Ledger(life.log);
  return [
    ...life.world.faults,
    ...ledger.faults,
    ...repeated(life, ledger),
    ...repeatedWords(ledger),
    ...[...life.logs.values()].flatMap(stepFaults),
    ...orderFaults(life),
    ...(reference ? differences(life, ledger, reference) : []),
  ];
}

function repeated(life: Life, ledger: Ledger): string[] {
  const faults: string[] = [];
  const byKey = ledger.byKey;
  for (const [key, effects] of Map.groupBy(life.world.effects, (effect) => effect.key)) {
    const [first] = effects;
    if (!first) continue;
    if (effects.some(({ callId }) => callId !== first.callId)) faults.push(`effect ${key} had several call ids`);
    const call = byKey.get(key);
    if (!call) faults.push(`effect ${key} of a call that is not in the log`);
    else if (['denied', 'cancelled', 'not_found', 'invalid_args'].includes(call.errorType ?? '')) {
      faults.push(`effect ${key} of a call that ended as ${call.errorType}`);
    }
    const allowed = 1 + (ledger.reruns.get(first.callId) ?? 0);
    if (!first.repeatable && effects.length > allowed) {
      faults.push(`effect ${key} ran ${effects.length} times, ${allowed} allowed`);
    }
  }
  return faults;
}

function repeatedWords({ said }: Ledger): string[] {
  return [...Map.groupBy(said, (text) => text)]
    .filter(([, times]) => times.length > 1)
    .map(([text]) => `the model's answer was stored twice: ${text}`);
}

/** What was emitted of a step's value is the value that was stored. */
function stepFaults(log: readonly StoredEvent[]): string[] {
  const values = new Map<string, unknown>();
  const faults: string[] = [];
  for (const { path, content, customMetadata } of log) {
    if (customMetadata?.step !== undefined) {
      const place = `${path} ${String(customMetadata.step)}`;
      if (values.has(place)) faults.push(`step ${place} was stored twice`);
      values.set(place, customMetadata.value);
    }
    for (const part of content?.parts ?? []) {
      const match = part.type === 'text' ? /^step (\S+) gave (\S+)$/.exec(part.text) : null;
      if (match && values.get(`${path} ${match[1]}`) !== match[2]) faults.push(`${path} lost the value of a step`);
    }
  }
  return faults;
}

/** Signals of a call that was interrupted are lost, and the turn goes another way than the reference. */
function wentAnotherWay(ledger: Ledger): boolean {
  return [...ledger.calls.values()].some(
    ({ errorType, part }) => errorType === 'interrupted' && (part.args.escalate || part.args.skip),
  );
}

function differences(life: Life, ledger: Ledger, reference: Life): string[] {
  const faults: string[] = [];
  if (life.reason !== reference.reason) faults.push(`it ended ${life.reason}, the reference ${reference.reason}`);
  if (wentAnotherWay(ledger)) return faults;
  const expected = new Ledger(reference.log);
  faults.push(...unequal('model answers', ledger.said, expected.said));
  const calls = ledger.byKey;
  const interrupted = new Set([...calls.values()].filter((c) => c.errorType === 'interrupted').map(({ key }) => key));
  faults.push(...unequal('calls', calls.keys(), expected.byKey.keys()));
  for (const [key, { outcome }] of expected.byKey) {
    const found = calls.get(key);
    if (found && !interrupted.has(key) && found.outcome !== outcome) {
      faults.push(`${found.part.name} ${key} came to ${found.outcome}, in the reference to ${outcome}`);
    }
  }
  const isLost = (key: string) => interrupted.has(key.replace(/^(?:user:)?s_/, ''));
  const keys = (state: Readonly<Record<string, unknown>>) => Object.keys(state).filter((key) => !isLost(key));
  faults.push(...unequal('state', keys(life.state), keys(reference.state)));
  const effects = ({ world }: Life) => world.effects.map(({ key }) => key).filter((key) => !interrupted.has(key));
  faults.push(...unequal('effects', effects(life), effects(reference)));
  faults.push(...unequal('steps', life.world.steps, reference.world.steps));
  faults.push(...unequal('places', places(life, ledger), places(reference, expected)));
  return faults;
}

function places({ logs }: Life, { calls }: Ledger): string[] {
  return [...logs.values()].flatMap((log) =>
    log.flatMap(({ path, author, content }) =>
      content && author !== 'user'
        ? [`${sessionName(log)}${placeName(path, (id) => calls.get(id)?.key)} ${author}`]
        : [],
    ),
  );
}

/** Differences of two sets of names. */
function unequal(what: string, found: Iterable<string>, wanted: Iterable<string>): string[] {
  const has = new Set(found);
  const wants = new Set(wanted);
  const missing = [...wants].filter((name) => !has.has(name));
  const extra = [...has].filter((name) => !wants.has(name));
  if (missing.length + extra.length === 0) return [];
  return [`${what}: missing [${missing.slice(0, 5).join(', ')}], too many [${extra.slice(0, 5).join(', ')}]`];
}
