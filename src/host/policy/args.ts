import { isObject } from '../../base/index.ts';
import { messageOf } from '../../contracts/index.ts';
import { boundedTest, compilePredicate, faultOfPattern, Undecided } from '../../gate/index.ts';
import type { ArgsCondition } from './rule.ts';
import { strictly } from './strictly.ts';

/** `undefined`: it cannot be told. */
type Verdict = boolean | undefined;
type Test = (value: unknown) => Verdict;

/**
 * Compiles a condition on arguments. `isStrict`: it fits only what it speaks about ({@link strictly}), and nothing that
 * cannot be tested; otherwise also what it says nothing of, and what cannot be tested.
 * @throws Error with a readable message
 */
export function compileArgs(condition: ArgsCondition, isStrict: boolean): (args: Record<string, unknown>) => boolean {
  const ifUnknown = !isStrict;
  const names = Object.keys(condition);
  const pointers = names.filter((name) => name.startsWith('/'));
  if (pointers.length === 0) {
    const test = schemaTest(condition, isStrict);
    return (args) => test(args) ?? ifUnknown;
  }
  if (pointers.length < names.length) throw new Error('mixes JSON pointers with keywords of a JSON Schema');
  const tests = pointers.map((pointer) => {
    try {
      return pointerTest(pointer, condition[pointer], isStrict);
    } catch (error) {
      throw new Error(`"${pointer}": ${messageOf(error)}`, { cause: error });
    }
  });
  return (args) => {
    let isUnknown = false;
    for (const test of tests) {
      const verdict = test(args);
      if (verdict === false) return false;
      isUnknown ||= verdict === undefined;
    }
    return isUnknown ? ifUnknown : true;
  };
}

function pointerTest(pointer: string, condition: unknown, isStrict: boolean): Test {
  const steps = pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const test = valueTest(condition, isStrict);
  return (args) => {
    let at: unknown = args;
    for (const step of steps) {
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return false;
      at = (at as Record<string, unknown>)[step];
    }
    return at === undefined ? false : test(at);
  };
}

function valueTest(condition: unknown, isStrict: boolean): Test {
  if (isObject(condition)) return schemaTest(condition, isStrict);
  if (typeof condition !== 'string') throw new Error('must be a regular expression or a JSON Schema');
  const pattern = new RegExp(condition);
  const fault = faultOfPattern(pattern);
  if (fault !== undefined) throw new Error(fault);
  const fits = boundedTest(pattern);
  return untestable((value) => (typeof value === 'object' && value !== null ? undefined : fits(String(value))));
}

function schemaTest(schema: Record<string, unknown>, isStrict: boolean): Test {
  const fits = compilePredicate(schema);
  if (!isStrict) return untestable(fits);
  const strict = strictly(schema);
  if (!isObject(strict)) return () => false;
  const fitsStrictly = compilePredicate(strict);
  return untestable((value) => fits(value) && fitsStrictly(value));
}

function untestable(test: Test): Test {
  return (value) => {
    try {
      return test(value);
    } catch (error) {
      if (error instanceof Undecided) return undefined;
      throw error;
    }
  };
}
