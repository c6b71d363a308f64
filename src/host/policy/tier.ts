import type { CompiledRule } from './compile.ts';
import { covers } from './glob.ts';

/** Names come from the tools that exist; a bound all the same. */
const MAX_CACHED_NAMES = 10_000;

/** The rules of one tier in the order in which they are tried. */
export class TierRules {
  readonly rules: readonly CompiledRule[];
  readonly #exact = new Map<string, number[]>();
  readonly #wild: number[] = [];
  readonly #byName = new Map<string, readonly CompiledRule[]>();

  constructor(rules: readonly CompiledRule[]) {
    this.rules = rules.toSorted((a, b) => b.priority - a.priority);
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
    if (this.#byName.size >= MAX_CACHED_NAMES) this.#byName.clear();
    this.#byName.set(name, rules);
    return rules;
  }

  /** A line for each rule that an earlier one without conditions leaves nothing to. */
  warnings(): string[] {
    const wide: CompiledRule[] = [];
    return this.rules.flatMap((rule) => {
      const cover = wide.find((earlier) => covers(earlier.tool, rule.tool));
      if (cover) return [`${rule.label} can never apply: ${cover.label} comes first and covers it`];
      if (rule.isUnconditional) wide.push(rule);
      return [];
    });
  }
}
