import { z } from 'zod';
import { record, strangerType, withMeta } from './open.ts';

export const textPart = z.looseObject({ type: z.literal('text'), text: z.string(), ...withMeta });

export const thoughtPart = z.looseObject({
  type: z.literal('thought'),
  thought: z.string(),
  /** Provider's proof that the thought is its own. */
  signature: z.string().optional(),
  ...withMeta,
});

export const mediaPart = z.looseObject({
  type: z.literal('media'),
  mimeType: z.string(),
  /** Base64, no data: prefix. */
  data: z.string().optional(),
  uri: z.string().optional(),
  ...withMeta,
});

export const referencePart = z.looseObject({
  type: z.literal('reference'),
  text: z.string(),
  uri: z.string().optional(),
  mimeType: z.string().optional(),
  data: z.string().optional(),
  ...withMeta,
});

export const refusalPart = z.looseObject({ type: z.literal('refusal'), text: z.string(), ...withMeta });

export const citationPart = z.looseObject({
  type: z.literal('citation'),
  text: z.string().optional(),
  uri: z.string().optional(),
  title: z.string().optional(),
  ...withMeta,
});

export const codePart = z.looseObject({
  type: z.literal('code'),
  language: z.string(),
  code: z.string(),
  ...withMeta,
});

export const codeResultPart = z.looseObject({
  type: z.literal('code_result'),
  output: z.string(),
  exitCode: z.number().int().optional(),
  ...withMeta,
});

export const functionCallPart = z.looseObject({
  type: z.literal('function_call'),
  /** The runtime's own id, unique in the session; the provider's rides in `_meta.provider`. */
  id: z.string(),
  name: z.string(),
  args: record,
  ...withMeta,
});

export const functionResponsePart = z.looseObject({
  type: z.literal('function_response'),
  /** Id of the call that this answers. */
  id: z.string(),
  name: z.string(),
  /** The tool's value if it is an object, else `{content: value}`. */
  response: record,
  /** Media and references that a model can take beside the response. */
  content: z.array(z.discriminatedUnion('type', [textPart, mediaPart, referencePart])).optional(),
  isError: z.boolean().optional(),
  errorType: z.string().optional(),
  ...withMeta,
});

const knownParts = [
  textPart,
  thoughtPart,
  mediaPart,
  referencePart,
  refusalPart,
  citationPart,
  codePart,
  codeResultPart,
  functionCallPart,
  functionResponsePart,
] as const;

export const contentPartTypes = knownParts.map((part) => part.shape.type.value);

export const strangerPart = z.looseObject({ type: strangerType(contentPartTypes), ...withMeta });

export const contentPart = z.union([z.discriminatedUnion('type', knownParts), strangerPart]);

export const content = z.looseObject({ role: z.enum(['user', 'model']), parts: z.array(contentPart) });

const displayText = z.looseObject({ type: z.literal('text'), text: z.string() });
const displayDiff = z.looseObject({
  type: z.literal('diff'),
  path: z.string(),
  /** Absent: the file is new. */
  oldText: z.string().optional(),
  newText: z.string(),
});
const displayTerminal = z.looseObject({
  type: z.literal('terminal'),
  text: z.string(),
  exitCode: z.number().int().optional(),
});
const displayTable = z.looseObject({
  type: z.literal('table'),
  columns: z.array(z.string()),
  rows: z.array(z.array(z.unknown())),
});
const displayThread = z.looseObject({ type: z.literal('thread'), threadId: z.string() });

const knownDisplays = [displayText, displayDiff, displayTerminal, displayTable, displayThread, mediaPart] as const;

/** For people; never sent to a model. */
export const displayContent = z.union([
  z.discriminatedUnion('type', knownDisplays),
  z.looseObject({ type: strangerType(knownDisplays.map((display) => display.shape.type.value)) }),
]);
