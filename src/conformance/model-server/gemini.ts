import type { Json, ScriptedAnswer, WireDialect } from './dialect.ts';
import { data, jsonList, OPAQUE_STATE, words } from './dialect.ts';
import type { FixtureEntry } from './fixture.ts';

const finishes = { stop: 'STOP', calls: 'STOP', length: 'MAX_TOKENS', refusal: 'SAFETY' } as const;

/** https://ai.google.dev/api/generate-content */
export const gemini: WireDialect = {
  name: 'gemini',
  path: /:(streamGenerateContent|generateContent)$/,
  streams: (path) => path.includes(':streamGenerateContent'),
  read: (body) => jsonList(body.contents).flatMap(entriesOf),
  whole: (answer) =>
    chunk(
      answer,
      partsOf(answer, (text) => [text]),
      true,
    ),
  frames: (answer) => [
    ...partsOf(answer, words).map((part) => data(chunk(answer, [part], false))),
    ...(answer.lacks('finish') ? [] : [data(chunk(answer, [{ text: '' }], true))]),
  ],
  error: (status, message) => ({
    error: { code: status, message, status: status === 429 ? 'RESOURCE_EXHAUSTED' : 'INTERNAL' },
  }),
  midStream: (message) => data({ error: { code: 500, message, status: 'INTERNAL' } }),
};

function chunk({ usage, finish, lacks }: ScriptedAnswer, parts: Json[], isLast: boolean): Json {
  const finishReason = isLast && !lacks('finish') ? { finishReason: finishes[finish] } : {};
  const { inputTokens, outputTokens } = usage;
  const sums = { promptTokenCount: inputTokens, candidatesTokenCount: outputTokens };
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, ...finishReason }],
    modelVersion: 'cx',
    responseId: 'resp_cx',
    usageMetadata: { ...sums, totalTokenCount: inputTokens + outputTokens },
  };
}

function partsOf({ thought, text, calls, lacks }: ScriptedAnswer, split: (text: string) => string[]): Json[] {
  return [
    ...(thought === '' ? [] : split(thought).map((each) => ({ text: each, thought: true }))),
    ...(text === '' ? [] : split(text).map((each) => ({ text: each }))),
    ...calls.map(({ id, name, args }, at) => ({
      functionCall: { ...(lacks('id') ? {} : { id }), name, args },
      // The first of a batch is signed.
      ...(at === 0 ? { thoughtSignature: OPAQUE_STATE } : {}),
    })),
  ];
}

function entriesOf({ role, parts }: Json): FixtureEntry[] {
  if (role === 'model') {
    const calls = jsonList(parts).flatMap(({ functionCall }) => (functionCall ? [functionCall as Json] : []));
    return [{ role: 'agent', calls: calls.map(({ id, name }) => ({ id: String(id ?? name), name: String(name) })) }];
  }
  return jsonList(parts).flatMap((part): FixtureEntry[] => {
    if (typeof part.text === 'string') return [{ role: 'user', text: part.text }];
    const result = part.functionResponse as Json | undefined;
    if (!result) return [];
    const callId = String(result.id ?? result.name);
    return [{ role: 'tool', callId, name: String(result.name), text: JSON.stringify(result.response) }];
  });
}
