import type { Json, ScriptedAnswer, WireDialect } from './dialect.ts';
import { data, jsonList, pieces, textsOf, words } from './dialect.ts';
import type { FixtureEntry } from './fixture.ts';

const finishes = { stop: 'stop', calls: 'tool_calls', length: 'length', refusal: 'content_filter' } as const;

/** https://platform.openai.com/docs/api-reference/chat */
export const openaiChat: WireDialect = {
  name: 'openai-chat',
  path: /\/chat\/completions$/,
  streams: (_, body) => body.stream === true,
  read: (body) => jsonList(body.messages).flatMap(entriesOf),
  whole(answer) {
    const { text, thought, calls, finish } = answer;
    const message: Json = { role: 'assistant', content: text === '' ? null : text };
    if (thought !== '') message.reasoning_content = thought;
    if (calls.length > 0) message.tool_calls = calls.map(({ name, json, id }) => callOf(name, json, id));
    const choice = { index: 0, message, finish_reason: answer.lacks('finish') ? null : finishes[finish] };
    return { ...head('chat.completion'), choices: [choice], usage: usageOf(answer) };
  },
  frames(answer) {
    const chunk = (delta: Json, finish_reason: string | null = null) =>
      data({ ...head('chat.completion.chunk'), choices: [{ index: 0, delta, finish_reason }] });
    return [
      chunk({ role: 'assistant', content: '' }),
      ...words(answer.thought).map((reasoning_content) => chunk({ reasoning_content })),
      ...words(answer.text).map((content) => chunk({ content })),
      ...answer.calls.flatMap((call, at) => {
        const index = answer.lacks('index') ? {} : { index: at };
        const id = answer.lacks('id') ? {} : { id: call.id };
        const first = { ...index, ...id, type: 'function', function: { name: call.name, arguments: '' } };
        const rest = pieces(call.json).map((text) => ({ ...index, function: { arguments: text } }));
        return [first, ...rest].map((delta) => chunk({ tool_calls: [delta] }));
      }),
      ...(answer.lacks('finish')
        ? []
        : [
            chunk({}, finishes[answer.finish]),
            data({ ...head('chat.completion.chunk'), choices: [], usage: usageOf(answer) }),
            data('[DONE]'),
          ]),
    ];
  },
  error: (_, message) => ({ error: { message, type: 'server_error', param: null, code: null } }),
  midStream: (message) => data({ error: { message, type: 'server_error', code: null } }),
};

const head = (object: string): Json => ({ id: 'chatcmpl-cx', object, created: 0, model: 'cx' });

const callOf = (name: string, json: string, id: string): Json => ({
  id,
  type: 'function',
  function: { name, arguments: json },
});

function usageOf({ usage: { inputTokens, outputTokens } }: ScriptedAnswer): Json {
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens };
}

function entriesOf(message: Json): FixtureEntry[] {
  switch (message.role) {
    case 'user':
      return textsOf(message.content).map((text) => ({ role: 'user', text }));
    case 'tool':
      return [{ role: 'tool', callId: String(message.tool_call_id), text: textsOf(message.content).join('') }];
    case 'assistant':
      return [
        {
          role: 'agent',
          calls: jsonList(message.tool_calls).map((call) => ({
            id: String(call.id),
            name: String((call.function as Json).name),
          })),
        },
      ];
    default:
      return [];
  }
}
