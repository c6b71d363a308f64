import type { Shape } from '../base/index.ts';
import { checkOptions, flag, list, names, object, text } from '../base/index.ts';
import type { DecisionRecord, Principal } from '../contracts/index.ts';
import { setOwn } from '../contracts/index.ts';
import { checkPrincipal } from './checks/index.ts';

/** What stands for a value that a viewer may not see. */
export const REDACTED = '[redacted]';

/** What is hidden of calls in an audit. */
export interface RedactionRule {
  /** Name of a tool; default all. */
  tool?: string;
  /** JSON pointers into the arguments; `''` is all of them. */
  args?: readonly string[];
  /** The result, too. */
  result?: boolean;
  /** Whoever has one of these roles sees it all the same. */
  unlessRole?: readonly string[];
}

/** What one viewer is not shown of one call. */
export interface Redaction {
  args: readonly string[];
  result: boolean;
  /** What is said of them, too: arguments that do not fit are quoted. */
  words: boolean;
}

/** Rules of a viewer, and what policies obliged to (`redact` of decisions) unless a role of `reveal` is held. */
export interface RedactionOptions {
  viewer?: Principal;
  rules?: readonly RedactionRule[];
  /** Roles that see what policies have hidden. Default: nobody. */
  reveal?: readonly string[];
}

const rule: Shape<RedactionRule> = { tool: text, args: names, result: flag, unlessRole: names };

/** A rule that cannot be read would hide nothing. @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function checkRedaction(options: RedactionOptions, where: string): void {
  checkOptions<RedactionOptions>(options, where, { viewer: object, rules: list, reveal: names });
  if (options.viewer !== undefined) checkPrincipal(options.viewer, `${where}.viewer`);
  for (const [index, one] of (options.rules ?? []).entries())
    checkOptions<RedactionRule>(one, `${where}.rules[${index}]`, rule);
}

/** Results of calls that ran. */
const ran: ReadonlySet<string | undefined> = new Set(['failed', 'timeout', 'invalid_output']);

/**
 * What policies obliged to hide of one call. All of its arguments, where nobody knows: it has not ended, or did not
 * run, and no gate was asked about it. Sessions of foreign agents have no gate, and what ran there is shown.
 */
export function obligationsOf(
  decisions: readonly Pick<DecisionRecord, 'by' | 'asked' | 'redact'>[],
  end: { isError?: boolean | undefined; errorType?: string | undefined } | undefined,
  hooked: boolean,
): string[] {
  // Without a policy, one that runs at once is the policy's by name only.
  const isKnown = decisions.some(({ by, asked }) => asked !== undefined || by === 'policy');
  const isForeign = decisions.length === 0 && !hooked && end !== undefined && (!end.isError || ran.has(end.errorType));
  const pointers = decisions.flatMap(({ redact = [] }) => redact);
  return isKnown || isForeign ? pointers : [...pointers, ''];
}

export function redactionOf(
  tool: string,
  obliged: readonly string[],
  options: RedactionOptions,
  errorType?: string,
): Redaction {
  const { viewer, rules = [], reveal = [] } = options;
  const holds = (roles: readonly string[]) => roles.some((role) => viewer?.roles?.includes(role));
  const applying = rules.filter((rule) => (rule.tool ?? tool) === tool && !holds(rule.unlessRole ?? []));
  const args = [...(holds(reveal) ? [] : obliged), ...applying.flatMap((rule) => rule.args ?? [])];
  const words = errorType === 'invalid_args' && args.length > 0;
  return { args: [...new Set(args)], result: words || applying.some(({ result }) => result === true), words };
}

/** A copy in which what the pointers name is hidden, and the pointers that named something. */
export function redactPointers<T>(value: T, pointers: readonly string[]): { value: T; hidden: string[] } {
  let copy: unknown = value;
  const hidden: string[] = [];
  for (const pointer of pointers) {
    const steps = pointer.split('/').slice(1).map(unescaped);
    const next = hideAt(copy, steps);
    if (next === copy) continue;
    copy = next;
    hidden.push(pointer);
  }
  return { value: copy as T, hidden };
}

const unescaped = (step: string) => step.replaceAll('~1', '/').replaceAll('~0', '~');

/** `*` stands for every item of a list or member of an object. */
function hideAt(value: unknown, steps: readonly string[]): unknown {
  const [step, ...rest] = steps;
  if (step === undefined) return REDACTED;
  if (typeof value !== 'object' || value === null) return value;
  const keys = step === '*' ? Object.keys(value) : Object.hasOwn(value, step) ? [step] : [];
  let copy = value as Record<string, unknown>;
  for (const key of keys) {
    const member = copy[key];
    const next = hideAt(member, rest);
    if (next === member) continue;
    if (copy === value) copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
    setOwn(copy, key, next);
  }
  return copy;
}

/** Shorter ones are in any text by chance. */
const SHORTEST = 3;

/** The texts that the pointers hide of these arguments. */
export function hiddenTexts(args: readonly unknown[], pointers: readonly string[]): string[] {
  const texts = new Set<string>();
  const collect = (value: unknown, shown: unknown): void => {
    if (value === shown) return;
    if (typeof value !== 'object' || value === null) {
      const text = String(value);
      if (text.length < SHORTEST) return;
      texts.add(text);
      // As a text that is JSON quotes it.
      texts.add(JSON.stringify(text).slice(1, -1));
      return;
    }
    const rest = typeof shown === 'object' && shown !== null ? (shown as Record<string, unknown>) : {};
    for (const [key, member] of Object.entries(value)) collect(member, rest[key]);
  };
  for (const one of args) collect(one, redactPointers(one, pointers).value);
  return [...texts];
}

/** The same value if none of the texts is in it. */
export function withoutTexts<T>(value: T, texts: readonly string[]): T {
  if (texts.length === 0) return value;
  return without(value, texts, false) as T;
}

/** Members whose own members a tool has named. */
const named: ReadonlySet<string> = new Set(['response', 'structuredContent']);

function without(value: unknown, texts: readonly string[], isNamed: boolean): unknown {
  if (typeof value === 'string') return hide(value, texts);
  if (typeof value === 'number') return texts.includes(String(value)) ? REDACTED : value;
  if (typeof value !== 'object' || value === null) return value;
  const copy = (Array.isArray(value) ? [] : {}) as Record<string, unknown>;
  let changed = false;
  for (const [key, member] of Object.entries(value)) {
    const name = isNamed && texts.includes(key) ? REDACTED : key;
    const next = without(member, texts, isNamed || named.has(key));
    if (next !== member || name !== key) changed = true;
    setOwn(copy, name, next);
  }
  return changed ? copy : value;
}

/** Texts may overlap, one another and themselves: all that is covered by one is hidden, or the rest of it would show. */
function hide(value: string, texts: readonly string[]): string {
  const spans = texts.flatMap((text) => spansOf(value, text)).sort((a, b) => a.from - b.from);
  if (spans.length === 0) return value;
  let shown = '';
  let at = 0;
  for (const { from, to } of spans) {
    if (from >= at) shown += value.slice(at, from) + REDACTED;
    at = Math.max(at, to);
  }
  return shown + value.slice(at);
}

interface Span {
  from: number;
  to: number;
}

function spansOf(value: string, text: string): Span[] {
  const spans: Span[] = [];
  for (let from = value.indexOf(text); from >= 0; from = value.indexOf(text, from + 1)) {
    const last = spans.at(-1);
    if (last && from < last.to) last.to = from + text.length;
    else spans.push({ from, to: from + text.length });
  }
  return spans;
}
