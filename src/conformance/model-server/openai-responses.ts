import type { Json, ScriptedAnswer, WireDialect } from './dialect.ts';
import { jsonList, namedEvent, OPAQUE_STATE, pieces, textsOf, words } from './dialect.ts';
import type { FixtureEntry } from './fixture.ts';

/** https://platform.openai.com/docs/api-reference/responses */
export const openaiResponses: WireDialect = {
  name: 'openai-responses',
  path: /\/responses$/,
  streams: (_, body) => body.stream === true,
  read: (body) =>
    typeof body.input === 'string' ? [{ role: 'user', text: body.input }] : joined(jsonList(body.input)),
  whole: (answer) => responseOf(answer, itemsOf(answer)),
  frames(answer) {
    let sequence_number = 0;
    const frame = (type: string, rest: Json) => namedEvent({ type, sequence_number: sequence_number++, ...rest });
    const items = itemsOf(answer);
    const begun = { ...responseOf(answer, []), status: 'in_progress', usage: null };
    const frames = [frame('response.created', { response: begun })];
    for (const [output_index, item] of items.entries()) {
      const at = { output_index, item_id: item.id };
      const empty = item.type === 'function_call' ? { arguments: '' } : { content: [], summary: [] };
      frames.push(frame('response.output_item.added', { output_index, item: { ...item, ...empty } }));
      for (const [type, delta] of deltasOf(answer, item)) frames.push(frame(type, { ...at, ...partOf(item), delta }));
      frames.push(frame('response.output_item.done', { output_index, item }));
    }
    if (answer.lacks('finish')) return frames;
    const end = answer.finish === 'length' ? 'response.incomplete' : 'response.completed';
    return [...frames, frame(end, { response: responseOf(answer, items) })];
  },
  error: (_, message) => ({ error: { message, type: 'server_error', param: null, code: null } }),
  midStream: (message) =>
    namedEvent({ type: 'error', code: 'server_error', message, param: null, sequence_number: 99 }),
};

const partOf = (item: Json): Json =>
  item.type === 'reasoning' ? { summary_index: 0 } : item.type === 'message' ? { content_index: 0 } : {};

function deltasOf({ thought, text, calls }: ScriptedAnswer, item: Json): [type: string, delta: string][] {
  if (item.type === 'reasoning') return words(thought).map((delta) => ['response.reasoning_summary_text.delta', delta]);
  if (item.type === 'message') return words(text).map((delta) => ['response.output_text.delta', delta]);
  const json = calls.find(({ id }) => item.id === `fc_${id}`)?.json ?? '';
  return pieces(json).map((delta) => ['response.function_call_arguments.delta', delta]);
}

function itemsOf({ thought, text, calls }: ScriptedAnswer): Json[] {
  const items: Json[] = [];
  if (thought !== '') {
    const summary = [{ type: 'summary_text', text: thought }];
    items.push({ type: 'reasoning', id: 'rs_cx', summary, encrypted_content: OPAQUE_STATE });
  }
  if (text !== '') {
    const content = [{ type: 'output_text', text, annotations: [] }];
    items.push({ type: 'message', id: 'msg_cx', role: 'assistant', status: 'completed', content });
  }
  for (const { id, name, json } of calls) {
    items.push({ type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: json, status: 'completed' });
  }
  return items;
}

function responseOf({ usage: { inputTokens, outputTokens }, finish }: ScriptedAnswer, output: Json[]): Json {
  const isCut = finish === 'length' || finish === 'refusal';
  const reason = finish === 'length' ? 'max_output_tokens' : 'content_filter';
  return {
    id: 'resp_cx',
    object: 'response',
    created_at: 0,
    model: 'cx',
    status: isCut ? 'incomplete' : 'completed',
    incomplete_details: isCut ? { reason } : null,
    error: null,
    output,
    usage: { input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: inputTokens + outputTokens },
  };
}

/** Items of one answer of the model stand side by side: they are one entry. */
function joined(items: readonly Json[]): FixtureEntry[] {
  const entries: FixtureEntry[] = [];
  let calls: { id: string; name: string }[] | undefined;
  for (const item of items) {
    const isCall = item.type === 'function_call';
    if (isCall || item.role === 'assistant') {
      if (calls === undefined) {
        calls = [];
        entries.push({ role: 'agent', calls });
      }
      if (isCall) calls.push({ id: String(item.call_id), name: String(item.name) });
      continue;
    }
    if (item.type === 'reasoning') continue;
    calls = undefined;
    if (item.type === 'function_call_output') {
      entries.push({ role: 'tool', callId: String(item.call_id), text: textsOf(item.output).join('') });
    } else if (item.role === 'user') {
      entries.push(...textsOf(item.content).map((text) => ({ role: 'user' as const, text })));
    }
  }
  return entries;
}
