import type { Json, ScriptedAnswer, WireDialect } from './dialect.ts';
import { jsonList, namedEvent, OPAQUE_STATE, pieces, textsOf, words } from './dialect.ts';
import type { FixtureEntry } from './fixture.ts';

const stops = { stop: 'end_turn', calls: 'tool_use', length: 'max_tokens', refusal: 'refusal' } as const;

/** https://docs.anthropic.com/en/api/messages */
export const anthropic: WireDialect = {
  name: 'anthropic',
  path: /\/messages$/,
  streams: (_, body) => body.stream === true,
  read: (body) => jsonList(body.messages).flatMap(entriesOf),
  whole: (answer) => ({
    ...messageOf(answer),
    content: blocksOf(answer).map(({ block }) => block),
    usage: { input_tokens: answer.usage.inputTokens, output_tokens: answer.usage.outputTokens },
  }),
  frames(answer) {
    const usage = { input_tokens: answer.usage.inputTokens, output_tokens: 0 };
    const frames = [
      namedEvent({ type: 'message_start', message: { ...messageOf(answer), content: [], stop_reason: null, usage } }),
      namedEvent({ type: 'ping' }),
    ];
    for (const [at, { empty, deltas }] of blocksOf(answer).entries()) {
      const index = answer.lacks('index') ? {} : { index: at };
      frames.push(namedEvent({ type: 'content_block_start', ...index, content_block: empty }));
      for (const delta of deltas) frames.push(namedEvent({ type: 'content_block_delta', ...index, delta }));
      frames.push(namedEvent({ type: 'content_block_stop', ...index }));
    }
    if (answer.lacks('finish')) return frames;
    const delta = { stop_reason: stops[answer.finish], stop_sequence: null };
    frames.push(namedEvent({ type: 'message_delta', delta, usage: { output_tokens: answer.usage.outputTokens } }));
    frames.push(namedEvent({ type: 'message_stop' }));
    return frames;
  },
  error: (status, message) => ({
    type: 'error',
    error: { type: status === 429 ? 'rate_limit_error' : 'api_error', message },
  }),
  midStream: (message) => namedEvent({ type: 'error', error: { type: 'overloaded_error', message } }),
};

function messageOf({ finish, lacks }: ScriptedAnswer): Json {
  const stop_reason = lacks('finish') ? null : stops[finish];
  return { id: 'msg_cx', type: 'message', role: 'assistant', model: 'cx', stop_reason, stop_sequence: null };
}

interface Block {
  block: Json;
  /** As it begins in a stream. */
  empty: Json;
  deltas: Json[];
}

function blocksOf({ thought, text, calls, lacks }: ScriptedAnswer): Block[] {
  const blocks: Block[] = [];
  if (thought !== '') {
    const signature = OPAQUE_STATE;
    const deltas: Json[] = words(thought).map((thinking) => ({ type: 'thinking_delta', thinking }));
    deltas.push({ type: 'signature_delta', signature });
    const block = { type: 'thinking', thinking: thought, signature };
    blocks.push({ block, empty: { type: 'thinking', thinking: '', signature: '' }, deltas });
  }
  if (text !== '') {
    const deltas = words(text).map((word) => ({ type: 'text_delta', text: word }));
    blocks.push({ block: { type: 'text', text }, empty: { type: 'text', text: '' }, deltas });
  }
  for (const { id, name, args, json } of calls) {
    const head = { type: 'tool_use', ...(lacks('id') ? {} : { id }), name };
    const deltas = pieces(json).map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    blocks.push({ block: { ...head, input: args }, empty: { ...head, input: {} }, deltas });
  }
  return blocks;
}

function entriesOf({ role, content }: Json): FixtureEntry[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content } as Json] : jsonList(content);
  if (role === 'assistant') {
    const calls = blocks.filter(({ type }) => type === 'tool_use');
    return [{ role: 'agent', calls: calls.map(({ id, name }) => ({ id: String(id), name: String(name) })) }];
  }
  return blocks.flatMap((block): FixtureEntry[] => {
    if (block.type === 'text') return [{ role: 'user', text: String(block.text) }];
    if (block.type !== 'tool_result') return [];
    const text = textsOf(block.content).join('');
    return [{ role: 'tool', callId: String(block.tool_use_id), text, isError: block.is_error === true }];
  });
}
