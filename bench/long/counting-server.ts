import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Characters that a token has. */
const CHARS_PER_TOKEN = 4;

export interface CountingOptions {
  /** Tokens above which a request is refused. */
  window: number;
  /** Tool calls before the model says that it is done. 0: it answers each message. */
  steps: number;
}

interface ChatRequest {
  stream?: boolean;
  messages: readonly { role: string; content?: unknown }[];
  tools?: readonly { function: { name: string } }[];
}

/**
 * A model behind OpenAI's Chat Completions on this machine, which counts tokens, and refuses what is above its window in the
 * provider's words. It calls the tool `fetch` in each step, reads one result of ten again, and sums up what it is given.
 */
export class CountingServer {
  /** Tokens of the requests that were answered, and those of them that the request before had at its beginning, too. */
  inputTokens = 0;
  cachedTokens = 0;
  requests = 0;
  refused = 0;
  summaries = 0;
  largest = 0;
  /** Tokens of each request for a step, in order. */
  readonly steps: number[] = [];
  readonly #options: CountingOptions;
  readonly #server;
  #before = '';
  #step = 0;

  constructor(options: CountingOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const { messages, tools = [], stream } = JSON.parse(body) as ChatRequest;
    const sent = JSON.stringify([tools, messages]);
    const tokens = Math.ceil(sent.length / CHARS_PER_TOKEN);
    this.requests++;
    this.largest = Math.max(this.largest, tokens);
    if (tokens > this.#options.window) {
      this.refused++;
      refuse(response, tokens, this.#options.window);
      return;
    }
    const isStep = tools.length > 0;
    const cached = isStep ? Math.floor(commonStart(this.#before, sent) / CHARS_PER_TOKEN) : 0;
    this.inputTokens += tokens;
    this.cachedTokens += cached;
    if (isStep) {
      this.#before = sent;
      this.steps.push(tokens);
    } else this.summaries++;
    const output = isStep ? this.#next(sent, tools) : { content: 'The work was begun; results were read one by one.' };
    const usage = {
      prompt_tokens: tokens,
      completion_tokens: Math.ceil(JSON.stringify(output).length / CHARS_PER_TOKEN),
      prompt_tokens_details: { cached_tokens: cached },
    };
    const finish_reason = 'tool_calls' in output ? 'tool_calls' : 'stop';
    if (stream) sse(response, [{ choices: [{ index: 0, delta: output, finish_reason }] }, { choices: [], usage }]);
    else json(response, { choices: [{ index: 0, message: { role: 'assistant', ...output }, finish_reason }], usage });
  }

  #next(sent: string, tools: NonNullable<ChatRequest['tools']>): Record<string, unknown> {
    const step = this.#step++;
    if (step >= this.#options.steps) return { content: 'Done.' };
    const read = step % 10 === 9 && tools.some(({ function: { name } }) => name === 'read_result');
    const old = read ? /read_result with call \\*"([^"\\]+)/.exec(sent)?.[1] : undefined;
    const called = old === undefined ? ['fetch', { page: step }] : ['read_result', { call: old, offset: 1000 }];
    const [name, args] = called;
    return {
      content: `Step ${step}.`,
      tool_calls: [
        { index: 0, id: `call_${step}`, type: 'function', function: { name, arguments: JSON.stringify(args) } },
      ],
    };
  }
}

/** As OpenAI words it. */
function refuse(response: ServerResponse, tokens: number, window: number): void {
  const message = `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`;
  response.writeHead(400, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({
      error: { message, type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' },
    }),
  );
}

function json(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ model: 'counting', ...body }));
}

function sse(response: ServerResponse, chunks: readonly object[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const chunk of chunks) response.write(`data: ${JSON.stringify({ model: 'counting', ...chunk })}\n\n`);
  response.end('data: [DONE]\n\n');
}

/** Characters that two texts have in common at their beginning. */
function commonStart(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (at < most && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at;
}
