type Members = Record<string, unknown>;
type Check = (value: unknown) => boolean;

const string: Check = (value) => typeof value === 'string';
const integer: Check = (value) => Number.isSafeInteger(value);
const boolean: Check = (value) => typeof value === 'boolean';
const object: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

interface Shape {
  /** Without these it is not what it says it is. */
  must: Record<string, Check>;
  /** Left out where they are of no use. */
  may?: Record<string, Check>;
}

const media: Shape = { must: { mimeType: string }, may: { data: string, uri: string } };

const parts: Record<string, Shape> = {
  text: { must: { text: string } },
  thought: { must: { thought: string }, may: { signature: string } },
  media,
  reference: { must: { text: string }, may: { uri: string, mimeType: string, data: string } },
  refusal: { must: { text: string } },
  citation: { must: {}, may: { text: string, uri: string, title: string } },
  code: { must: { language: string, code: string } },
  code_result: { must: { output: string }, may: { exitCode: integer } },
  function_call: { must: { id: string, name: string, args: object } },
  function_response: {
    must: { id: string, name: string, response: object },
    may: { content: listOf(isAttachable), isError: boolean, errorType: string },
  },
};

const displays: Record<string, Shape> = {
  text: { must: { text: string } },
  diff: { must: { path: string, newText: string }, may: { oldText: string } },
  terminal: { must: { text: string }, may: { exitCode: integer } },
  table: { must: { columns: listOf(string), rows: listOf(Array.isArray) } },
  thread: { must: { threadId: string } },
  media,
};

/** Stranger types are fine; known ones must hold what they promise. Leaves out, in place, what is malformed. */
export const fitsPart = (part: Members & { type: string }): boolean => fits(part, parts);
export const fitsDisplay = (display: Members & { type: string }): boolean => fits(display, displays);

export const isKnownPartType = (type: string): boolean => Object.hasOwn(parts, type);

function fits(value: Members & { type: string }, shapes: Record<string, Shape>): boolean {
  if (value._meta !== undefined && !object(value._meta)) delete value._meta;
  const shape = Object.hasOwn(shapes, value.type) ? shapes[value.type] : undefined;
  for (const [name, check] of Object.entries(shape?.may ?? {})) if (!check(value[name])) delete value[name];
  return Object.entries(shape?.must ?? {}).every(([name, check]) => check(value[name]));
}

function isAttachable(value: unknown): boolean {
  if (!object(value)) return false;
  const part = value as Members & { type: string };
  return ['text', 'media', 'reference'].includes(part.type) && fitsPart(part);
}
