import type { ModelOptions } from '../../../src/adapters/models/index.ts';
import {
  anthropicModel,
  geminiModel,
  openaiChatModel,
  openaiResponsesModel,
} from '../../../src/adapters/models/index.ts';
import type { Model } from '../../../src/runtime/index.ts';
import type { ModelUnderTest, Said, WireTurn } from '../../suites/model.ts';
import { named, sse } from './kit.ts';

type Json = Record<string, unknown>;
const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const options = (baseUrl: string, more: ModelOptions): ModelOptions => ({
  apiKey: 'sk-test-secret-key',
  baseUrl,
  ...more,
});
/** Deltas of a few characters, none of them cut inside a character. */
const pieces = (text: string): string[] =>
  [...text].reduce<string[]>((all, char, at) => {
    if (at % 3 === 0) all.push('');
    all[all.length - 1] += char;
    return all;
  }, []);

export const openaiChat: ModelUnderTest = {
  title: 'OpenAI Chat Completions',
  path: /^\/v1\/chat\/completions$/,
  keyHeader: ['authorization', 'Bearer sk-test-secret-key'],
  model: (url, more = {}) => openaiChatModel('gpt-test', { ...options(`${url}/v1`, more), provider: 'openai' }),
  error: (status, message) => ({ status, body: { error: { message, type: 'x', code: null } } }),
  answer(said) {
    const calls = (said.calls ?? []).map(({ name, args, id }, index) => ({
      index,
      id,
      type: 'function',
      function: { name, arguments: args === undefined ? '' : JSON.stringify(args) },
    }));
    const finish = said.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop');
    const message: Json = { role: 'assistant', content: said.text ?? null };
    if (said.thought) message.reasoning_content = said.thought;
    if (said.refusal) message.refusal = said.refusal;
    if (calls.length > 0) message.tool_calls = calls.map(({ index: _index, ...rest }) => rest);
    const usage = { prompt_tokens: 12, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 4 } };
    const chunk = (delta: Json, finish_reason: string | null = null) => ({
      model: 'gpt-test-1',
      choices: [{ index: 0, delta, finish_reason }],
    });
    return {
      json: { model: 'gpt-test-1', choices: [{ index: 0, message, finish_reason: finish }], usage },
      stream: sse(
        chunk({ role: 'assistant', content: '' }),
        ...pieces(said.thought ?? '').map((reasoning_content) => chunk({ reasoning_content })),
        ...pieces(said.text ?? '').map((content) => chunk({ content })),
        ...pieces(said.refusal ?? '').map((refusal) => chunk({ refusal })),
        ...calls.flatMap(({ function: { name, arguments: args }, ...rest }) => [
          chunk({ tool_calls: [{ ...rest, function: { name, arguments: '' } }] }),
          ...pieces(args).map((piece) =>
            chunk({ tool_calls: [{ index: rest.index, function: { arguments: piece } }] }),
          ),
        ]),
        chunk({}, finish),
        { model: 'gpt-test-1', choices: [], usage },
        '[DONE]',
      ),
    };
  },
  read(body) {
    const turns: WireTurn[] = [];
    const open = new Set<string>();
    for (const message of list(body.messages)) {
      if (message.role === 'system') continue;
      if (message.role === 'tool') {
        const id = message.tool_call_id as string;
        if (!open.delete(id)) throw new Error(`result ${id} answers no open call`);
        turns.push(turn('user', { results: [{ id, text: message.content as string }] }));
        continue;
      }
      if (open.size > 0) throw new Error(`calls without a result: ${[...open]}`);
      const calls = list(message.tool_calls).map((each) => {
        const { name, arguments: args } = each.function as { name: string; arguments: string };
        open.add(each.id as string);
        return { id: each.id as string, name, args: JSON.parse(args) as unknown };
      });
      const content = list(message.content);
      turns.push(
        turn(message.role === 'assistant' ? 'model' : 'user', {
          calls,
          text: typeof message.content === 'string' ? message.content : content.map((part) => part.text ?? '').join(''),
          images: content.filter((part) => part.type === 'image_url').length,
        }),
      );
    }
    if (open.size > 0) throw new Error(`calls without a result: ${[...open]}`);
    const first = list(body.messages)[0];
    return {
      system: first?.role === 'system' ? (first.content as string) : '',
      tools: list(body.tools).map((each) => (each.function as { name: string }).name),
      temperature: body.temperature,
      turns,
    };
  },
  proof: {
    of: (body) =>
      list(body.messages)
        .map((message) => message.reasoning_content)
        .filter((value) => value !== undefined),
    expected: ['Plan.'],
  },
};

export const openaiResponses: ModelUnderTest = {
  title: 'OpenAI Responses',
  path: /^\/v1\/responses$/,
  keyHeader: ['authorization', 'Bearer sk-test-secret-key'],
  model: (url, more = {}) =>
    openaiResponsesModel('gpt-5-test', { ...options(`${url}/v1`, more), provider: 'openai-responses' }),
  error: (status, message) => ({ status, body: { error: { message, type: 'x', code: null } } }),
  answer(said) {
    const output: Json[] = [];
    if (said.thought) {
      const summary = [{ type: 'summary_text', text: said.thought }];
      output.push({ type: 'reasoning', id: 'rs_1', summary, encrypted_content: 'gAAA+/=\u00e9' });
    }
    const content: Json[] = [];
    if (said.text) content.push({ type: 'output_text', text: said.text, annotations: [] });
    if (said.refusal) content.push({ type: 'refusal', refusal: said.refusal });
    if (content.length > 0)
      output.push({ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content });
    for (const { name, args, id } of said.calls ?? []) {
      const text = args === undefined ? '' : JSON.stringify(args);
      output.push({ type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: text, status: 'completed' });
    }
    const usage = {
      input_tokens: 12,
      output_tokens: 7,
      total_tokens: 19,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens_details: { reasoning_tokens: 0 },
    };
    const response: Json = {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      model: 'gpt-test-1',
      status: said.finish === 'length' ? 'incomplete' : 'completed',
      incomplete_details: said.finish === 'length' ? { reason: 'max_output_tokens' } : null,
      error: null,
      output,
      usage,
    };
    const events: { type: string }[] = [
      { type: 'response.created', response: { ...response, output: [], usage: null } } as never,
    ];
    for (const [output_index, item] of output.entries()) {
      const at = { output_index, item_id: item.id };
      events.push({ type: 'response.output_item.added', ...at, item: { ...item, content: [], summary: [] } } as never);
      if (item.type === 'reasoning') {
        const deltas = pieces(said.thought ?? '');
        for (const delta of deltas) {
          events.push({ type: 'response.reasoning_summary_text.delta', ...at, summary_index: 0, delta } as never);
        }
      } else if (item.type === 'message') {
        for (const delta of pieces(said.text ?? ''))
          events.push({ type: 'response.output_text.delta', ...at, delta } as never);
        for (const delta of pieces(said.refusal ?? ''))
          events.push({ type: 'response.refusal.delta', ...at, delta } as never);
      } else {
        for (const delta of pieces(item.arguments as string)) {
          events.push({ type: 'response.function_call_arguments.delta', ...at, delta } as never);
        }
      }
      events.push({ type: 'response.output_item.done', ...at, item } as never);
    }
    events.push({ type: said.finish === 'length' ? 'response.incomplete' : 'response.completed', response } as never);
    return { json: response, stream: named(...events) };
  },
  read(body) {
    const turns: WireTurn[] = [];
    const open = new Set<string>();
    for (const item of list(body.input)) {
      if (item.type === 'function_call') {
        open.add(item.call_id as string);
        const args = JSON.parse(item.arguments as string) as unknown;
        turns.push(turn('model', { calls: [{ id: item.call_id as string, name: item.name as string, args }] }));
      } else if (item.type === 'function_call_output') {
        const id = item.call_id as string;
        if (!open.delete(id)) throw new Error(`result ${id} answers no open call`);
        turns.push(turn('user', { results: [{ id, text: item.output as string }] }));
      } else if (item.type === 'message') {
        if (open.size > 0) throw new Error(`calls without a result: ${[...open]}`);
        const content = list(item.content);
        turns.push(
          turn(item.role === 'assistant' ? 'model' : 'user', {
            text: typeof item.content === 'string' ? item.content : content.map((part) => part.text ?? '').join(''),
            images: content.filter((part) => part.type === 'input_image').length,
          }),
        );
      }
    }
    if (open.size > 0) throw new Error(`calls without a result: ${[...open]}`);
    return {
      system: (body.instructions as string | undefined) ?? '',
      tools: list(body.tools).map((each) => each.name as string),
      temperature: body.temperature,
      turns,
    };
  },
  proof: {
    of: (body) => list(body.input).filter((item) => item.type === 'reasoning'),
    expected: [
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Plan.' }],
        encrypted_content: 'gAAA+/=\u00e9',
      },
    ],
  },
};

export const anthropic: ModelUnderTest = {
  title: 'Anthropic Messages',
  path: /^\/v1\/messages$/,
  keyHeader: ['x-api-key', 'sk-test-secret-key'],
  model: (url, more = {}) => anthropicModel('claude-test', { ...options(url, more), provider: 'anthropic' }),
  error: (status, message) => ({ status, body: { type: 'error', error: { type: 'x', message } } }),
  answer(said) {
    const blocks: Json[] = [];
    if (said.thought) blocks.push({ type: 'thinking', thinking: said.thought, signature: 'sig+/=\u00e9' });
    if (said.text) blocks.push({ type: 'text', text: said.text, citations: null });
    for (const { name, args, id } of said.calls ?? []) {
      blocks.push({ type: 'tool_use', id, name, input: args ?? {}, caller: { type: 'direct' } });
    }
    const stops: Record<string, string> = { length: 'max_tokens', refusal: 'refusal' };
    const finish = said.refusal ? 'refusal' : (said.finish ?? '');
    const stop_reason = stops[finish] ?? (said.calls ? 'tool_use' : 'end_turn');
    const stop_details = said.refusal ? { type: 'refusal', category: null, explanation: said.refusal } : null;
    const counts = { input_tokens: 5, cache_read_input_tokens: 4, cache_creation_input_tokens: 3 };
    const message = { type: 'message', id: 'msg_1', role: 'assistant', model: 'gpt-test-1', stop_reason, stop_details };
    const events: { type: string }[] = [
      {
        type: 'message_start',
        message: { ...message, content: [], stop_reason: null, usage: { ...counts, output_tokens: 1 } },
      } as never,
      { type: 'ping' },
    ];
    for (const [index, block] of blocks.entries()) {
      const start = { ...block };
      const deltas: Json[] = [];
      if (block.type === 'thinking') {
        start.thinking = '';
        start.signature = '';
        deltas.push(...pieces(said.thought ?? '').map((thinking) => ({ type: 'thinking_delta', thinking })));
        deltas.push({ type: 'signature_delta', signature: block.signature });
      } else if (block.type === 'text') {
        start.text = '';
        deltas.push(...pieces(said.text ?? '').map((text) => ({ type: 'text_delta', text })));
      } else {
        start.input = {};
        const text = said.calls?.find((each) => each.id === block.id)?.args;
        const json = text === undefined ? [''] : pieces(JSON.stringify(text));
        deltas.push(...json.map((partial_json) => ({ type: 'input_json_delta', partial_json })));
      }
      events.push({ type: 'content_block_start', index, content_block: start } as never);
      for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta } as never);
      events.push({ type: 'content_block_stop', index } as never);
    }
    events.push({ type: 'message_delta', delta: { stop_reason, stop_details }, usage: { output_tokens: 7 } } as never);
    events.push({ type: 'message_stop' });
    return { json: { ...message, content: blocks, usage: { ...counts, output_tokens: 7 } }, stream: named(...events) };
  },
  read(body) {
    const turns: WireTurn[] = [];
    let open: string[] = [];
    let before = '';
    for (const message of list(body.messages)) {
      if (message.role === before) throw new Error('roles must alternate');
      before = message.role as string;
      const blocks = list(message.content);
      if (blocks.length === 0) throw new Error('empty content');
      if (blocks.some((block) => block.type === 'text' && (block.text as string).trim() === '')) {
        throw new Error('text blocks must hold text');
      }
      const results = blocks.filter((block) => block.type === 'tool_result');
      const answered = results.map((block) => block.tool_use_id as string);
      if (open.join() !== answered.join()) throw new Error(`open: ${open}; answered: ${answered}`);
      if (results.some((block, at) => blocks[at] !== block)) throw new Error('results must come first');
      const calls = blocks.filter((block) => block.type === 'tool_use');
      open = calls.map((block) => block.id as string);
      if (calls.some((block) => typeof block.input !== 'object')) throw new Error('input must be an object');
      turns.push(
        turn(message.role === 'assistant' ? 'model' : 'user', {
          text: blocks.map((block) => (block.type === 'text' ? (block.text as string) : '')).join(''),
          calls: calls.map((block) => ({ id: block.id as string, name: block.name as string, args: block.input })),
          results: results.map((block) => ({
            id: block.tool_use_id as string,
            text: block.content as string,
            ...(block.is_error ? { isError: true } : {}),
          })),
          images: blocks.filter((block) => block.type === 'image').length,
        }),
      );
    }
    if (open.length > 0) throw new Error(`calls without a result: ${open}`);
    return {
      system:
        typeof body.system === 'string'
          ? body.system
          : list(body.system)
              .map(({ text }) => text)
              .join(''),
      tools: list(body.tools).map((each) => each.name as string),
      temperature: body.temperature,
      turns,
    };
  },
  proof: {
    of: (body) =>
      list(body.messages).flatMap((message) =>
        list(message.content).filter((block) => /thinking/.test(block.type as string)),
      ),
    expected: [{ type: 'thinking', thinking: 'Plan.', signature: 'sig+/=\u00e9' }],
  },
};

export const gemini: ModelUnderTest = {
  title: 'Gemini',
  path: /^\/v1beta\/models\/gemini-test:(streamGenerateContent\?alt=sse|generateContent)$/,
  keyHeader: ['x-goog-api-key', 'sk-test-secret-key'],
  model: (url, more = {}) => geminiModel('gemini-test', { ...options(url, more), provider: 'gemini' }),
  error: (status, message) => ({ status, body: { error: { code: status, message, status: 'X' } } }),
  answer(said) {
    const parts: Json[] = [];
    const streamed: Json[] = [];
    for (const text of said.thought ? [said.thought] : []) {
      parts.push({ text, thought: true });
      streamed.push(...pieces(text).map((piece) => ({ text: piece, thought: true })));
    }
    if (said.text) {
      parts.push({ text: said.text });
      streamed.push(...pieces(said.text).map((text) => ({ text })));
    }
    for (const [at, { name, args }] of (said.calls ?? []).entries()) {
      // The first of a batch is signed; without arguments the key is missing.
      const signed = at === 0 ? { thoughtSignature: 'c2lnK/8=' } : {};
      const part = { functionCall: { name, ...(args === undefined ? {} : { args }) }, ...signed };
      parts.push(part);
      streamed.push(part);
    }
    if (said.thought && !said.calls) {
      parts.push({ text: '', thoughtSignature: 'c2lnK/8=' });
      streamed.push({ text: '', thoughtSignature: 'c2lnK/8=' });
    }
    const usageMetadata = { promptTokenCount: 12, candidatesTokenCount: 7, cachedContentTokenCount: 4 };
    const finishReason = said.refusal ? 'SAFETY' : said.finish === 'length' ? 'MAX_TOKENS' : 'STOP';
    const whole = (content: Json[], finish?: string) => ({
      modelVersion: 'gpt-test-1',
      candidates: [
        { index: 0, content: { role: 'model', parts: content }, ...(finish ? { finishReason: finish } : {}) },
      ],
      usageMetadata,
    });
    return {
      json: whole(parts, finishReason),
      stream: sse(...streamed.map((part) => whole([part])), whole([], finishReason)),
    };
  },
  read(body) {
    const turns: WireTurn[] = [];
    let open: string[] = [];
    let before = '';
    for (const content of list(body.contents)) {
      if (content.role === before) throw new Error('roles must alternate');
      before = content.role as string;
      const parts = list(content.parts);
      if (parts.length === 0) throw new Error('empty content');
      const results = parts.flatMap((part) => (part.functionResponse ? [part.functionResponse as Json] : []));
      const answered = results.map((each) => each.name as string);
      if (open.join() !== answered.join()) throw new Error(`open: ${open}; answered: ${answered}`);
      const calls = parts.flatMap((part) => (part.functionCall ? [part.functionCall as Json] : []));
      open = calls.map((each) => each.name as string);
      turns.push(
        turn(content.role as 'user' | 'model', {
          text: parts.map((part) => (part.thought ? '' : ((part.text as string | undefined) ?? ''))).join(''),
          calls: calls.map((each) => ({ id: each.name as string, name: each.name as string, args: each.args })),
          results: results.map((each) => {
            const { response } = each;
            if (typeof response !== 'object' || response === null || Array.isArray(response))
              throw new Error('not repeating');
            return { id: each.name as string, text: JSON.stringify(response) };
          }),
          images: parts.filter((part) => part.inlineData).length,
        }),
      );
    }
    if (open.length > 0) throw new Error(`calls without a result: ${open}`);
    const system = body.systemInstruction as { parts: { text: string }[] } | undefined;
    return {
      system: system?.parts.map(({ text }) => text).join('') ?? '',
      tools: list(body.tools).flatMap((each) => list(each.functionDeclarations).map(({ name }) => name as string)),
      temperature: (body.generationConfig as Json | undefined)?.temperature,
      turns,
    };
  },
  proof: {
    of: (body) =>
      list(body.contents).flatMap((content) =>
        list(content.parts).filter((part) => part.thoughtSignature !== undefined),
      ),
    expected: [{ functionCall: { name: 'weather', args: { city: 'Rome', n: 1.5 } }, thoughtSignature: 'c2lnK/8=' }],
  },
};

export const providers: readonly ModelUnderTest[] = [openaiChat, openaiResponses, anthropic, gemini];

function turn(role: 'user' | 'model', more: Partial<WireTurn>): WireTurn {
  return { role, text: '', calls: [], results: [], images: 0, ...more };
}

export type { Model, Said };
