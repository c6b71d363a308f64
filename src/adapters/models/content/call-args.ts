import { parseJson } from '../../../contracts/index.ts';

export interface ParsedArgs {
  /** The value; text that is no JSON stays text, and fails the check of arguments. */
  args: unknown;
  /** The text ends before its JSON does. */
  cut: boolean;
}

/** Arguments as text. Blank means none. */
export function parseArgs(text: unknown): ParsedArgs {
  // Some servers send the value itself.
  if (typeof text !== 'string') return { args: text ?? {}, cut: false };
  if (text.trim() === '') return { args: {}, cut: false };
  for (const candidate of [text, ...repeated(text)]) {
    try {
      return { args: parseJson(candidate) ?? {}, cut: false };
    } catch {
      // Not this one.
    }
  }
  return { args: text, cut: isUnterminated(text) };
}

const placeholder = /^\s*\{\s*\}\s*(?=\{)/;

/** Some servers send `{}` before the arguments, or all of them twice. Two objects that differ stay text. */
function repeated(text: string): string[] {
  const half = text.slice(0, text.length / 2);
  return [
    ...(placeholder.test(text) ? [text.replace(placeholder, '')] : []),
    ...(text.length % 2 === 0 && text === half + half ? [half] : []),
  ];
}

/** A string, object or array was opened and not closed. */
function isUnterminated(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (inString) {
      if (char === '\\') at++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') depth--;
  }
  return inString || depth > 0;
}
