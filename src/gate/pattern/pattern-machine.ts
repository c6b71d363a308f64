import { unreachable } from '../../base/index.ts';
import type { PatternNode } from './pattern-syntax.ts';

/** Of a machine; counted repetitions are written out. */
const MAX_STATES = 5000;
/** Characters of which each class of a pattern remembers whether they fit. */
const MAX_KNOWN = 10_000;

type State =
  | { op: 'char'; fits: (code: number) => boolean }
  | { op: 'edge'; kind: 'start' | 'end' | 'word' | 'noWord' }
  | { op: 'look'; index: number; negated: boolean }
  | { op: 'split'; also: number }
  | { op: 'jump'; to: number }
  | { op: 'found' };

/** States in order; each goes on to the next one. */
interface Program {
  states: State[];
  /** Reads the text from its end to its start. */
  backwards: boolean;
  /** Programs that say at which places a lookahead or lookbehind holds. */
  looks: Program[];
}

class TooManyStates extends Error {}

/** Tests texts by simulation of an automaton: at most (states × characters) steps, whatever the pattern. */
export interface PatternMachine {
  /** In all, with those of lookaheads and lookbehinds. */
  readonly states: number;
  test(text: string): boolean;
}

/** Undefined for patterns of too many states. */
export function patternMachine(node: PatternNode, unicode: boolean): PatternMachine | undefined {
  try {
    const builder = new Builder(unicode);
    const program = builder.program(node, false);
    return { states: builder.count, test: (text) => search(program, codesOf(text, unicode)) };
  } catch (error) {
    if (error instanceof TooManyStates) return undefined;
    throw error;
  }
}

class Builder {
  count = 0;
  readonly #unicode: boolean;
  readonly #chars = new Map<string, (code: number) => boolean>();

  constructor(unicode: boolean) {
    this.#unicode = unicode;
  }

  program(node: PatternNode, backwards: boolean): Program {
    const program: Program = { states: [], backwards, looks: [] };
    this.#add(program, node);
    this.#push(program, { op: 'found' });
    return program;
  }

  #push({ states }: Program, state: State): State {
    if (++this.count > MAX_STATES) throw new TooManyStates();
    states.push(state);
    return state;
  }

  #add(program: Program, node: PatternNode): void {
    const { states } = program;
    switch (node.type) {
      case 'char':
        this.#push(program, { op: 'char', fits: this.#charTest(node.source) });
        return;
      case 'edge':
        this.#push(program, { op: 'edge', kind: node.kind });
        return;
      case 'look': {
        // A lookahead that is read backwards says of each place whether it begins there.
        program.looks.push(this.program(node.inner, node.ahead));
        this.#push(program, { op: 'look', index: program.looks.length - 1, negated: node.negated });
        return;
      }
      case 'all':
        for (const part of program.backwards ? node.parts.toReversed() : node.parts) this.#add(program, part);
        return;
      case 'any': {
        const ends: { op: 'jump'; to: number }[] = [];
        for (const [index, part] of node.parts.entries()) {
          if (index === node.parts.length - 1) {
            this.#add(program, part);
            break;
          }
          const split = this.#push(program, { op: 'split', also: 0 }) as { also: number };
          this.#add(program, part);
          ends.push(this.#push(program, { op: 'jump', to: 0 }) as { op: 'jump'; to: number });
          split.also = states.length;
        }
        for (const end of ends) end.to = states.length;
        return;
      }
      case 'repeat':
        this.#repeat(program, node);
        return;
      default:
        unreachable(node, 'a node of a pattern');
    }
  }

  #repeat(program: Program, { inner, min, max }: Extract<PatternNode, { type: 'repeat' }>): void {
    const { states } = program;
    for (let n = 0; n < min; n++) this.#add(program, inner);
    if (max === Infinity) {
      const start = states.length;
      const split = this.#push(program, { op: 'split', also: 0 }) as { also: number };
      this.#add(program, inner);
      this.#push(program, { op: 'jump', to: start });
      split.also = states.length;
      return;
    }
    const splits: { also: number }[] = [];
    for (let n = min; n < max; n++) {
      splits.push(this.#push(program, { op: 'split', also: 0 }) as { also: number });
      this.#add(program, inner);
    }
    for (const split of splits) split.also = states.length;
  }

  /** The engine's own word on single characters, so that classes mean here what they mean there. */
  #charTest(source: string): (code: number) => boolean {
    let test = this.#chars.get(source);
    if (!test) {
      const pattern = new RegExp(`^(?:${source})$`, this.#unicode ? 'u' : '');
      const known = new Map<number, boolean>();
      test = (code) => {
        let fits = known.get(code);
        if (fits === undefined) {
          fits = pattern.test(this.#unicode ? String.fromCodePoint(code) : String.fromCharCode(code));
          if (known.size < MAX_KNOWN) known.set(code, fits);
        }
        return fits;
      };
      this.#chars.set(source, test);
    }
    return test;
  }
}

function codesOf(text: string, unicode: boolean): Uint32Array {
  const codes = new Uint32Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const code = (unicode ? text.codePointAt(at) : text.charCodeAt(at)) ?? 0;
    codes[length++] = code;
    if (code > 0xffff) at++;
  }
  return codes.subarray(0, length);
}

/** Whether the pattern is found anywhere; with `places`, marks where what it finds ends instead. */
function search(program: Program, codes: Uint32Array, places?: Uint8Array): boolean {
  const { states, backwards } = program;
  const looks = program.looks.map((look) => {
    const found = new Uint8Array(codes.length + 1);
    search(look, codes, found);
    return found;
  });
  const seenAt = new Int32Array(states.length).fill(-1);
  let current: number[] = [];
  let next: number[] = [];
  const stack: number[] = [];
  let isFound = false;
  const enter = (list: number[], state: number, place: number) => {
    stack.push(state);
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (seenAt[at] === place) continue;
      seenAt[at] = place;
      const entered = states[at] as State;
      switch (entered.op) {
        case 'char':
          list.push(at);
          break;
        case 'split':
          stack.push(entered.also, at + 1);
          break;
        case 'jump':
          stack.push(entered.to);
          break;
        case 'edge':
          if (isEdge(entered.kind, codes, place)) stack.push(at + 1);
          break;
        case 'look':
          if ((looks[entered.index]?.[place] === 1) !== entered.negated) stack.push(at + 1);
          break;
        case 'found':
          isFound = true;
          if (places) places[place] = 1;
          break;
        default:
          unreachable(entered, 'a state of a pattern');
      }
    }
  };
  const step = backwards ? -1 : 1;
  const end = backwards ? 0 : codes.length;
  for (let place = backwards ? codes.length : 0; ; place += step) {
    enter(current, 0, place);
    if (isFound && !places) return true;
    if (place === end) return isFound;
    const code = codes[backwards ? place - 1 : place] ?? 0;
    for (const at of current) {
      const state = states[at];
      if (state?.op === 'char' && state.fits(code)) enter(next, at + 1, place + step);
    }
    [current, next] = [next, current];
    next.length = 0;
    if (isFound && !places) return true;
  }
}

function isEdge(kind: 'start' | 'end' | 'word' | 'noWord', codes: Uint32Array, place: number): boolean {
  if (kind === 'start') return place === 0;
  if (kind === 'end') return place === codes.length;
  return (isWord(codes[place - 1]) !== isWord(codes[place])) === (kind === 'word');
}

function isWord(code: number | undefined): boolean {
  if (code === undefined) return false;
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);
}
