import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Shape } from '../../session/index.ts';
import { checkOptions, fn, list } from '../../session/index.ts';
import { anthropic } from './anthropic.ts';
import { DECOY_KEY } from './decoy-key.ts';
import type { Fault, Json, ModelTurn, ScriptedAnswer, WireDialect } from './dialect.ts';
import type { FixtureEntry, FixtureStep } from './fixture.ts';
import { answerFixture } from './fixture.ts';
import { gemini } from './gemini.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';

const dialects: readonly WireDialect[] = [openaiChat, openaiResponses, anthropic, gemini];

/** Larger requests are refused. */
const MAX_BODY = 16 * 1024 * 1024;

/** What an executor sent to its model. */
export interface ModelRequestSeen {
  dialect: WireDialect['name'];
  path: string;
  body: Json;
  /** The same, whatever the dialect. */
  conversation: FixtureEntry[];
}

export interface ModelServerOptions {
  /** Answers in order, whoever asks. Default: what fixture messages say. */
  script?: readonly ModelTurn[];
  /** Answers what an agent asks beside the conversation (a title, which model to take); undefined: it is not that. */
  aside?: (request: ModelRequestSeen) => ModelTurn | undefined;
}

const shape: Shape<ModelServerOptions> = { script: list, aside: fn };

/** A model on loopback that says what is written down, in the protocols of four providers. */
export class ModelServer implements AsyncDisposable {
  readonly requests: ModelRequestSeen[] = [];
  readonly #script: ModelTurn[] | undefined;
  readonly #aside: ModelServerOptions['aside'];
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #calls = 0;

  private constructor(options: ModelServerOptions) {
    this.#script = options.script && [...options.script];
    this.#aside = options.aside;
  }

  static async start(options: ModelServerOptions = {}): Promise<ModelServer> {
    checkOptions<ModelServerOptions>(options, 'ModelServer: options', shape);
    const made = new ModelServer(options);
    await new Promise<void>((resolve) => made.#server.listen(0, '127.0.0.1', resolve));
    return made;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Environment that points clients of the providers at this server. */
  get env(): Record<string, string> {
    const { url } = this;
    return {
      CX_MODEL_URL: url,
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_API_KEY: DECOY_KEY,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: DECOY_KEY,
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_API_KEY: DECOY_KEY,
    };
  }

  /** Scripted answers that nobody asked for. */
  get remaining(): number {
    return this.#script?.length ?? 0;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Not parsed as a URL: what a client sends need not be one (`//`), and its path is all that counts.
    const [path = '/'] = (request.url ?? '/').split('?');
    const dialect = dialects.find((each) => each.path.test(path));
    try {
      const body = await bodyOf(request);
      if (!dialect || body === undefined) return sendJson(response, 404, { error: { message: `nothing at ${path}` } });
      const seen = { dialect: dialect.name, path, body, conversation: dialect.read(body) };
      const aside = this.#aside?.(seen);
      if (!aside) this.requests.push(seen);
      const turn = aside ?? this.#next(seen.conversation);
      await this.#answer(dialect, dialect.streams(path, body), turn, response);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (response.headersSent) response.destroy();
      else sendJson(response, 400, dialect?.error(400, message) ?? { error: { message } });
    }
  }

  #next(conversation: readonly FixtureEntry[]): ModelTurn {
    if (!this.#script) return turnOf(answerFixture(conversation));
    const turn = this.#script.shift();
    if (!turn) throw new Error('the script has run dry');
    return turn;
  }

  async #answer(dialect: WireDialect, streams: boolean, turn: ModelTurn, response: ServerResponse): Promise<void> {
    const { fault = {} } = turn;
    if (fault.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
    if (fault.status !== undefined) {
      return sendJson(response, fault.status, dialect.error(fault.status, turn.text ?? 'as scripted'), fault.headers);
    }
    const answer = this.#answerOf(turn, fault);
    if (!streams) {
      if (turn.wait) return;
      return send(response, 'application/json', [JSON.stringify(dialect.whole(answer))], fault);
    }
    const frames = dialect.frames(answer);
    if (turn.wait) {
      // The headers are out: the client waits for what never comes.
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      return;
    }
    if (fault.midStream) frames.splice(Math.ceil(frames.length / 2), frames.length, dialect.midStream('overloaded'));
    send(response, 'text/event-stream', frames, fault);
  }

  #answerOf(turn: ModelTurn, fault: Fault): ScriptedAnswer {
    const calls = (turn.calls ?? []).map(({ name, args, id = `call_cx${this.#calls++}` }) => {
      const json = JSON.stringify(args);
      const cut = `${json.slice(0, -1)},`;
      return fault.malformedArgs ? { id, name, json: cut, args: cut } : { id, name, json, args };
    });
    const { thought = '', text = '', usage = { inputTokens: 0, outputTokens: 0 } } = turn;
    const finish = turn.finish ?? (calls.length > 0 ? 'calls' : 'stop');
    return { thought, text, calls, usage, finish, lacks: (what) => fault.missing?.includes(what) ?? false };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function turnOf({ fail, ask, calls, fault, finish, waitMs, ...rest }: FixtureStep): ModelTurn {
  const delay = waitMs === undefined ? {} : { delayMs: waitMs };
  const step = {
    ...rest,
    ...(fault || waitMs !== undefined ? { fault: { ...delay, ...(fault as Fault) } } : {}),
    ...(finish === undefined ? {} : { finish: finish as NonNullable<ModelTurn['finish']> }),
  };
  // A client retries what may pass; this does not.
  if (fail !== undefined) return { text: fail, fault: { status: 400 } };
  if (ask) return { ...step, calls: [{ name: 'ask_person', args: ask }] };
  return calls ? { ...step, calls } : step;
}

function send(
  response: ServerResponse,
  type: string,
  frames: readonly string[],
  { cutAfterBytes, headers }: Fault,
): void {
  response.writeHead(200, { ...headers, 'content-type': type });
  if (cutAfterBytes === undefined) {
    for (const frame of frames) response.write(frame);
    response.end();
    return;
  }
  response.write(Buffer.from(frames.join('')).subarray(0, cutAfterBytes), () => response.destroy());
}

function sendJson(response: ServerResponse, status: number, body: Json, headers: Fault['headers'] = {}): void {
  response.writeHead(status, { ...headers, 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<Json | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) throw new Error(`a request of more than ${MAX_BODY} bytes`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  return text === '' ? undefined : (JSON.parse(text) as Json);
}
