import vm from 'node:vm';

/** Strings longer than this are not matched against patterns. */
export const MAX_PATTERN_INPUT = 10_000;
/** Of the wall clock: long enough for a process that has to wait for its turn. */
const TIMEOUT_MS = 200;
/** Twice as many ways with each character: below this there are few. */
const FEW_CHARACTERS = 12;

/** A string is too long to run a pattern on, or the pattern takes too long on it. */
export class PatternInputTooLong extends Error {}

/** A repeated group with a repetition or a choice in it: there may be many ways to fit one text. */
const ambiguous = /\((?:[^()\\]|\\.)*[+*?{|](?:[^()\\]|\\.)*\)(?:[+*]|\{\d+,)|\).*\)(?:[+*]|\{\d+,)/;

/**
 * A test of strings by a pattern, in bounded time: whoever makes the text must not be able to keep the process busy.
 * It throws {@link PatternInputTooLong} where it cannot tell.
 */
export function boundedTest(pattern: RegExp, maxLength = MAX_PATTERN_INPUT): (text: string) => boolean {
  const isAmbiguous = ambiguous.test(pattern.source);
  let context: vm.Context | undefined;
  return (text) => {
    if (text.length > maxLength) throw new PatternInputTooLong(`${text.length} characters are too long for a pattern`);
    if (!isAmbiguous || text.length < FEW_CHARACTERS) return pattern.test(text);
    // Nothing else can interrupt a pattern that is being matched.
    context ??= vm.createContext({ pattern });
    context.text = text;
    try {
      return script().runInContext(context, { timeout: TIMEOUT_MS }) === true;
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      throw new PatternInputTooLong(`the pattern ${pattern.source} takes too long on ${text.length} characters`);
    }
  };
}

let compiled: vm.Script | undefined;

function script(): vm.Script {
  compiled ??= new vm.Script('pattern.test(text)');
  return compiled;
}
