/** A regular expression as a tree. What it captures is left out: a test does not ask for it. */
export type PatternNode =
  /** One character, by the part of the pattern that says which. */
  | { type: 'char'; source: string }
  | { type: 'edge'; kind: 'start' | 'end' | 'word' | 'noWord' }
  | { type: 'look'; ahead: boolean; negated: boolean; inner: PatternNode }
  | { type: 'all'; parts: readonly PatternNode[] }
  | { type: 'any'; parts: readonly PatternNode[] }
  | { type: 'repeat'; inner: PatternNode; min: number; max: number };

/** Nesting above this is not read. */
const MAX_DEPTH = 200;

const quantifier = /(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/y;
const classOf = /\[(?:[^\]\\]|\\[\s\S])*\]/y;
const groups = /\((?:\?(?::|<?[=!]|<[^>=!][^>]*>)|(?!\?))/y;
const escapes = {
  true: /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]+\}|x[0-9a-fA-F]{2}|[pP]\{[^}]+\}|c[a-zA-Z]|0(?!\d)|[^upPxck0-9])/y,
  false: /\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[a-zA-Z]|0(?!\d)|[^uxck0-9])/y,
} as const;

/**
 * Reads a pattern that the engine has compiled: what is no syntax is no concern here. Undefined for what cannot be
 * tested in time that is linear in the text, above all references to what a group has found.
 */
export function parsePattern({ source, unicode }: RegExp): PatternNode | undefined {
  const reader = new Reader(source, unicode);
  const node = reader.alternatives(0);
  return node && reader.isAtEnd ? node : undefined;
}

class Reader {
  readonly #source: string;
  readonly #unicode: boolean;
  #at = 0;

  constructor(source: string, unicode: boolean) {
    this.#source = source;
    this.#unicode = unicode;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#source.length;
  }

  alternatives(depth: number): PatternNode | undefined {
    if (depth > MAX_DEPTH) return undefined;
    const branches: PatternNode[] = [];
    do {
      const parts: PatternNode[] = [];
      while (!this.isAtEnd && this.#source[this.#at] !== '|' && this.#source[this.#at] !== ')') {
        const part = this.#term(depth);
        if (!part) return undefined;
        parts.push(part);
      }
      branches.push({ type: 'all', parts });
    } while (this.#take('|'));
    const [only] = branches;
    return branches.length === 1 ? only : { type: 'any', parts: branches };
  }

  #term(depth: number): PatternNode | undefined {
    const inner = this.#atom(depth);
    const found = inner && this.#match(quantifier);
    if (!found) return inner;
    const [text, low, comma, high] = found;
    if (low === undefined) {
      return { type: 'repeat', inner, min: text[0] === '+' ? 1 : 0, max: text[0] === '?' ? 1 : Infinity };
    }
    const min = Number(low);
    return { type: 'repeat', inner, min, max: comma === undefined ? min : high === '' ? Infinity : Number(high) };
  }

  #atom(depth: number): PatternNode | undefined {
    if (this.#take('^')) return { type: 'edge', kind: 'start' };
    if (this.#take('$')) return { type: 'edge', kind: 'end' };
    if (this.#take('\\b')) return { type: 'edge', kind: 'word' };
    if (this.#take('\\B')) return { type: 'edge', kind: 'noWord' };
    switch (this.#source[this.#at]) {
      case '(':
        return this.#group(depth);
      case '[':
        return this.#char(this.#match(classOf)?.[0]);
      case '\\':
        return this.#char(this.#match(escapes[`${this.#unicode}`])?.[0]);
    }
    const code = this.#source.codePointAt(this.#at) ?? 0;
    const text = this.#unicode ? String.fromCodePoint(code) : (this.#source[this.#at] ?? '');
    this.#at += text.length;
    return this.#char(text);
  }

  #char(source: string | undefined): PatternNode | undefined {
    return source === undefined ? undefined : { type: 'char', source };
  }

  #group(depth: number): PatternNode | undefined {
    const open = this.#match(groups)?.[0];
    const inner = open === undefined ? undefined : this.alternatives(depth + 1);
    if (!inner || !this.#take(')')) return undefined;
    const isLook = /^\(\?<?[=!]$/.test(open ?? '');
    return isLook ? { type: 'look', ahead: !open?.includes('<'), negated: open?.at(-1) === '!', inner } : inner;
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source);
    if (found) this.#at = pattern.lastIndex;
    return found;
  }
}
