import { boundedTest, compileSchema, Undecided } from '../../src/gate/index.ts';

export type Random = () => number;

/** The same numbers for the same seed. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;

const atoms = String.raw`a|b|.|[ab]|[^a]|\d|\w|\s|\S|\W|\.|\u0061|\x62|[\d-]|[^]|[]|é|😀|\/|-|\n|\cA|\0|[\]b]|{|}|\-|_|(?:)|\p{L}|\u{61}`;
const counts = ['*', '+', '?', '{2}', '{1,3}', '{2,}', '*?', '+?', '{,2}'];
const characters = ['a', 'b', 'c', '1', ' ', '.', '-', '_', '\n', 'é', '😀', '\ud83d', '\ude00', '{', ']', '\0'];

function source(random: Random, depth: number): string {
  const inner = () => source(random, depth - 1);
  const kind = random();
  if (depth <= 0 || kind < 0.35) return pick(random, atoms.split('|'));
  if (kind < 0.5) return inner() + inner();
  if (kind < 0.6) return `(${inner()}|${inner()})`;
  if (kind < 0.86) return `(?:${inner()})${pick(random, counts)}`;
  if (kind < 0.92) return pick(random, ['^', '$', String.raw`\b`, String.raw`\B`]) + inner();
  return `(${pick(random, ['?=', '?!', '?<=', '?<!'])}${inner()})`;
}

/** A text on which the machine and the engine disagree; undefined if there is none. */
export function differing(random: Random): string | undefined {
  let pattern: RegExp;
  try {
    pattern = new RegExp(source(random, 4), pick(random, ['', 'u']));
  } catch {
    return undefined;
  }
  const fits = boundedTest(pattern);
  for (let n = 0; n < 5; n++) {
    const text = Array.from({ length: Math.floor(random() * 7) }, () => pick(random, characters)).join('');
    // Long enough for the machine to be asked.
    const long = `${text}${'ab'.repeat(200)}`;
    for (const one of [text, long]) {
      try {
        if (isQuick(pattern, one) && fits(one) !== pattern.test(one)) return `${pattern} ${JSON.stringify(one)}`;
      } catch (error) {
        if (!(error instanceof Undecided)) throw error;
      }
    }
  }
  return undefined;
}

/** The engine itself may take for ever on what the machine takes at once. */
const isQuick = ({ source: { length } }: RegExp, text: string): boolean =>
  text.length < 10 || (length < 12 && text.length < 500);

function schema(random: Random, depth: number): Record<string, unknown> {
  const inner = () => schema(random, depth - 1);
  const kind = random();
  if (depth <= 0 || kind < 0.2) return { $ref: `#/$defs/d${Math.floor(random() * 3)}` };
  if (kind < 0.5) return { [pick(random, ['anyOf', 'oneOf', 'allOf'])]: [inner(), inner(), inner()] };
  if (kind < 0.6) return { type: 'array', items: inner(), uniqueItems: random() < 0.5 };
  if (kind < 0.75) return { properties: { a: inner(), b: inner() }, additionalProperties: inner() };
  if (kind < 0.85) return { type: 'string', pattern: source(random, 3) };
  if (kind < 0.9) return { not: inner() };
  return { patternProperties: { [source(random, 2)]: inner() }, propertyNames: { maxLength: 5 } };
}

function value(random: Random, depth: number): unknown {
  const kind = random();
  if (depth <= 0 || kind < 0.3) return pick(random, [1, 'a'.repeat(2000), null, 'b', true]);
  const of = () => value(random, depth - 1);
  return kind < 0.6 ? Array.from({ length: 4 }, of) : { a: of(), b: of(), c: of() };
}

/** One random schema on one random value: `undecided` where the count said that it would take too long. */
export function evaluateOne(random: Random): 'decided' | 'undecided' | 'no schema' {
  const $defs = Object.fromEntries(Array.from({ length: 3 }, (_, n) => [`d${n}`, schema(random, 2)]));
  let check: ReturnType<typeof compileSchema>;
  try {
    check = compileSchema({ $defs, ...schema(random, 2) });
  } catch {
    return 'no schema';
  }
  try {
    check(value(random, 5));
    return 'decided';
  } catch (error) {
    if (error instanceof Undecided || error instanceof RangeError) return 'undecided';
    throw error;
  }
}
