import type { PolicyRequest } from '../../contracts/index.ts';
import type { CompiledRule } from './compile.ts';
import { asList, signatureOf } from './conditions.ts';
import type { Glob } from './glob.ts';
import { compileGlob, covers } from './glob.ts';
import { unspokenTypes } from './strictly.ts';
import { contradictionIn } from './subsume.ts';

/** Names come from the tools that exist; a bound all the same. */
const MAX_CACHED_NAMES = 10_000;
/** Who calls what, from where, in which mode: few at a time. */
const MAX_CACHED_SIGNATURES = 2_000;
/** Fewer are tried faster than a signature is made. */
const FEW = 16;

/** The rules of one tier in the order in which they are tried. */
export class TierRules {
  readonly rules: readonly CompiledRule[];
  readonly #exact = new Map<string, number[]>();
  readonly #wild: number[] = [];
  readonly #byName = new Map<string, readonly CompiledRule[]>();
  readonly #bySignature = new Map<string, readonly CompiledRule[]>();
  readonly #annotations: readonly string[];

  constructor(rules: readonly CompiledRule[]) {
    this.rules = rules.toSorted((a, b) => b.priority - a.priority);
    this.#annotations = [...new Set(rules.flatMap(({ annotations }) => annotations))];
    for (const [place, { tool }] of this.rules.entries()) {
      for (const name of new Set(tool.exact)) {
        const places = this.#exact.get(name);
        if (places) places.push(place);
        else this.#exact.set(name, [place]);
      }
      if (tool.wild.length > 0) this.#wild.push(place);
    }
  }

  /** Names that some rule spells out. */
  names(): Iterable<string> {
    return this.#exact.keys();
  }

  /** Rules on a tool of this name. */
  of(name: string): readonly CompiledRule[] {
    const cached = this.#byName.get(name);
    if (cached) return cached;
    const places = new Set(this.#exact.get(name));
    for (const place of this.#wild) if (this.rules[place]?.tool.test(name)) places.add(place);
    const rules = [...places].sort((a, b) => a - b).flatMap((place) => this.rules[place] ?? []);
    return keep(this.#byName, name, rules, MAX_CACHED_NAMES);
  }

  /** The rule that speaks about a call. */
  first(request: PolicyRequest): CompiledRule | undefined {
    const rules = this.of(request.action);
    const signature = rules.length > FEW ? signatureOf(request, this.#annotations) : undefined;
    if (signature === undefined)
      return speaker(rules, (rule) => rule.fitsCall(request) && rule.fitsArgs(request), request);
    const left =
      this.#bySignature.get(signature) ??
      keep(this.#bySignature, signature, candidates(rules, request), MAX_CACHED_SIGNATURES);
    return speaker(left, (rule) => rule.fitsArgs(request), request);
  }

  /** A line for each rule that earlier ones leave nothing to, or that asks for what nothing can be. */
  warnings(): string[] {
    const earlier = new Earlier();
    return this.rules.flatMap((rule) => {
      const why = whyNever(rule, earlier);
      if (why !== undefined) return [`${rule.label} can never apply: ${why}`];
      earlier.add(rule);
      const silent = rule.decision.outcome === 'allow' && rule.rule.args ? unspokenIn(rule.rule.args) : undefined;
      if (silent === undefined) return [];
      return [`${rule.label} ${silent}: as it allows, only values that it says something of fit`];
    });
  }

  /** The rule that has the last word on all that a rule of a lower tier could speak about, whatever that one says. */
  silencerOf(rule: CompiledRule): CompiledRule | undefined {
    // What is hidden by any is hidden.
    if (rule.decision.redact) return undefined;
    for (const own of this.rules) {
      const { outcome } = own.decision;
      // Two asks are merged; whatever is as strict as an allow leaves nothing of it.
      const wins = outcome === 'deny' || rule.decision.outcome === 'allow';
      if (!wins || own.overridable) return undefined;
      if (own.isUnconditional && covers(own.tool, rule.tool)) return own;
    }
    return undefined;
  }
}

/** Rules by what their patterns begin with: a policy may have thousands, and few of them can cover one another. */
class Earlier {
  readonly #byHead = new Map<string, { glob: Glob; rule: CompiledRule }[]>();

  add(rule: CompiledRule): void {
    for (const pattern of asList(rule.rule.tool)) {
      const head = pattern.split(/[*?]/, 1)[0] ?? '';
      const known = this.#byHead.get(head);
      const one = { glob: compileGlob(pattern), rule };
      if (known) known.push(one);
      else this.#byHead.set(head, [one]);
    }
  }

  /** Rules that hold wherever this one does and speak about all tools of the pattern. */
  over(rule: CompiledRule, pattern: string): Set<CompiledRule> {
    const glob = compileGlob(pattern);
    const found = new Set<CompiledRule>();
    for (let length = 0; length <= pattern.length; length++) {
      for (const one of this.#byHead.get(pattern.slice(0, length)) ?? []) {
        if (one.rule.isWiderThan(rule) && covers(one.glob, glob)) found.add(one.rule);
      }
    }
    return found;
  }
}

/** The first that applies; an ask that only may apply keeps no deny after it from speaking. */
function speaker(
  rules: readonly CompiledRule[],
  applies: (rule: CompiledRule) => boolean,
  request: PolicyRequest,
): CompiledRule | undefined {
  let doubtful: CompiledRule | undefined;
  for (const rule of rules) {
    if (!applies(rule)) continue;
    if (rule.fitsSurely(request)) return doubtful && rule.decision.outcome !== 'deny' ? doubtful : rule;
    doubtful ??= rule;
  }
  return doubtful;
}

function whyNever(rule: CompiledRule, earlier: Earlier): string | undefined {
  const contradiction = rule.rule.args && contradictionIn(rule.rule.args);
  if (contradiction !== undefined) return `its condition on arguments contradicts itself: ${contradiction}`;
  const each = asList(rule.rule.tool).map((pattern) => [...earlier.over(rule, pattern)]);
  const whole = each[0]?.find((one) => each.every((rules) => rules.includes(one)));
  if (whole) return `${whole.label} comes first and covers it`;
  const labels = each.map(([first]) => first?.label);
  if (!labels.every((label) => label !== undefined)) return undefined;
  return `${[...new Set(labels)].join(' and ')} come first and cover it`;
}

/** Those whose conditions hold, arguments aside, up to the first one that always speaks. */
function candidates(rules: readonly CompiledRule[], request: PolicyRequest): CompiledRule[] {
  const found: CompiledRule[] = [];
  for (const rule of rules) {
    if (!rule.fitsCall(request)) continue;
    found.push(rule);
    if (!rule.readsArgs && rule.fitsSurely(request)) break;
  }
  return found;
}

function unspokenIn(args: Record<string, unknown>): string | undefined {
  const isPointers = Object.keys(args).some((name) => name.startsWith('/'));
  const schemas = isPointers ? Object.values(args) : [args];
  return schemas.map(unspokenTypes).find((fault) => fault !== undefined);
}

function keep<T>(cache: Map<string, T>, key: string, value: T, max: number): T {
  if (cache.size >= max) cache.clear();
  cache.set(key, value);
  return value;
}
