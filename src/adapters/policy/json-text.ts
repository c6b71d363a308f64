/**
 * JSON as a value. Of a member that is there twice, the parser keeps the last one: which one was meant, nobody knows.
 * @throws Error with a readable message
 */
export function parseStrictJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error('the answer is no JSON', { cause: error });
  }
  const name = repeatedMember(text);
  if (name !== undefined) throw new Error(`the answer has the member ${JSON.stringify(name)} twice in one object`);
  return value;
}

/** The first member that an object has twice. The text is JSON. */
function repeatedMember(text: string): string | undefined {
  const open: Set<string>[] = [];
  // Strings, colons behind them, and the ends of objects: nothing else says where a member is.
  for (const [token, string, colon] of text.matchAll(/("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}]/g)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (string !== undefined && colon !== undefined) {
      const name = JSON.parse(string) as string;
      const names = open.at(-1);
      if (names?.has(name)) return name;
      names?.add(name);
    }
  }
  return undefined;
}
