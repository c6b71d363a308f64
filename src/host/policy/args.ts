import { isObject } from '../../base/index.ts';
import { messageOf } from '../../contracts/index.ts';
import { boundedTest, compilePredicate, faultOfPattern, Undecided } from '../../gate/index.ts';
import type { ArgsCondition } from './rule.ts';
import { strictly } from './strictly.ts';
import { shownValue, whyOf } from './why.ts';

/** `undefined`: it cannot be told. */
type Verdict = boolean | undefined;
interface Test {
  fits(value: unknown): Verdict;
  /** Of what does not fit: the place in it, as the end of a pointer, and why. */
  why(value: unknown): string;
}

export interface ArgsTest {
  fits(args: Record<string, unknown>): boolean;
  /** Of what does not fit: `/eur: 50 is below minimum 100`. */
  why(args: Record<string, unknown>): string;
}

const UNTESTED = ': cannot be tested within the bounds, and the rule allows';

/**
 * Compiles a condition on arguments. `isStrict`: it fits only what it speaks about ({@link strictly}), and nothing that
 * cannot be tested; otherwise also what it says nothing of, and what cannot be tested.
 * @throws Error with a readable message
 */
export function compileArgs(condition: ArgsCondition, isStrict: boolean): ArgsTest {
  const ifUnknown = !isStrict;
  const names = Object.keys(condition);
  const pointers = names.filter((name) => name.startsWith('/'));
  if (pointers.length === 0) {
    const test = schemaTest(condition, isStrict);
    return { fits: (args) => test.fits(args) ?? ifUnknown, why: (args) => test.why(args) };
  }
  if (pointers.length < names.length) throw new Error('mixes JSON pointers with keywords of a JSON Schema');
  const tests = pointers.map((pointer) => {
    try {
      return { pointer, ...pointerTest(pointer, condition[pointer], isStrict) };
    } catch (error) {
      throw new Error(`"${pointer}": ${messageOf(error)}`, { cause: error });
    }
  });
  return {
    fits(args) {
      let isUnknown = false;
      for (const test of tests) {
        const verdict = test.fits(args);
        if (verdict === false) return false;
        isUnknown ||= verdict === undefined;
      }
      return isUnknown ? ifUnknown : true;
    },
    why(args) {
      const wrong = tests.find((test) => test.fits(args) === false) ?? tests.find((test) => !test.fits(args));
      return wrong ? `${wrong.pointer}${wrong.why(args)}` : '';
    },
  };
}

function pointerTest(pointer: string, condition: unknown, isStrict: boolean): Test {
  const steps = pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const test = valueTest(condition, isStrict);
  const valueIn = (args: unknown): unknown => {
    let at = args;
    for (const step of steps) {
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
      at = (at as Record<string, unknown>)[step];
    }
    return at;
  };
  return {
    fits(args) {
      const value = valueIn(args);
      return value === undefined ? false : test.fits(value);
    },
    why(args) {
      const value = valueIn(args);
      return value === undefined ? ': is absent' : test.why(value);
    },
  };
}

function valueTest(condition: unknown, isStrict: boolean): Test {
  if (isObject(condition)) return schemaTest(condition, isStrict);
  if (typeof condition !== 'string') throw new Error('must be a regular expression or a JSON Schema');
  const pattern = new RegExp(condition);
  const fault = faultOfPattern(pattern);
  if (fault !== undefined) throw new Error(fault);
  const fits = boundedTest(pattern);
  return untestable(
    (value) => (typeof value === 'object' && value !== null ? undefined : fits(String(value))),
    (value) => `: ${shownValue(value)} does not match ${condition}`,
  );
}

function schemaTest(schema: Record<string, unknown>, isStrict: boolean): Test {
  const fits = compilePredicate(schema);
  if (!isStrict) return untestable(fits, (value) => whyOf(fits, value));
  const strict = strictly(schema);
  if (!isObject(strict)) return { fits: () => false, why: () => ': its types exclude one another' };
  const fitsStrictly = compilePredicate(strict);
  return untestable(
    (value) => fits(value) && fitsStrictly(value),
    (value) => whyOf(fits(value) ? fitsStrictly : fits, value),
  );
}

function untestable(test: (value: unknown) => Verdict, why: Test['why']): Test {
  const fits: Test['fits'] = (value) => {
    try {
      return test(value);
    } catch (error) {
      if (error instanceof Undecided) return undefined;
      throw error;
    }
  };
  return { fits, why: (value) => (fits(value) === undefined ? UNTESTED : why(value)) };
}
