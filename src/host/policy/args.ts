import { messageOf } from '../../contracts/index.ts';
import { boundedTest, compilePredicate, faultOfPattern, Undecided } from '../../gate/index.ts';
import type { ArgsCondition } from './rule.ts';
import { isObject } from './rule.ts';

/** `undefined`: it cannot be told. */
type Verdict = boolean | undefined;
type Test = (value: unknown) => Verdict;

/**
 * Compiles a condition on arguments. `ifUnknown` is what a value counts as that cannot be tested.
 * @throws Error with a readable message
 */
export function compileArgs(condition: ArgsCondition, ifUnknown: boolean): (args: Record<string, unknown>) => boolean {
  const names = Object.keys(condition);
  const pointers = names.filter((name) => name.startsWith('/'));
  if (pointers.length === 0) {
    const test = schemaTest(condition);
    return (args) => test(args) ?? ifUnknown;
  }
  if (pointers.length < names.length) throw new Error('mixes JSON pointers with keywords of a JSON Schema');
  const tests = pointers.map((pointer) => {
    try {
      return pointerTest(pointer, condition[pointer]);
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

function pointerTest(pointer: string, condition: unknown): Test {
  const steps = pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const test = valueTest(condition);
  return (args) => {
    let at: unknown = args;
    for (const step of steps) {
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return false;
      at = (at as Record<string, unknown>)[step];
    }
    return at === undefined ? false : test(at);
  };
}

function valueTest(condition: unknown): Test {
  if (isObject(condition)) return schemaTest(condition);
  if (typeof condition !== 'string') throw new Error('must be a regular expression or a JSON Schema');
  const pattern = new RegExp(condition);
  const fault = faultOfPattern(pattern);
  if (fault !== undefined) throw new Error(fault);
  const fits = boundedTest(pattern);
  return untestable((value) => (typeof value === 'object' && value !== null ? undefined : fits(String(value))));
}

function schemaTest(schema: Record<string, unknown>): Test {
  return untestable(compilePredicate(schema));
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
