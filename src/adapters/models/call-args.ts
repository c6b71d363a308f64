import { parseJson } from '../../contracts/index.ts';

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
  try {
    const args = parseJson(text);
    return { args: args ?? {}, cut: false };
  } catch {
    return { args: text, cut: isUnterminated(text) };
  }
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

/** A reason to stop that means: cut at a limit of tokens. Compatible servers have several words for it. */
export function isCut(reason: string): boolean {
  return /length|max_?(output_?)?tokens|context_window/i.test(reason);
}
