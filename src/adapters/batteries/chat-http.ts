import { CoxswainError } from '../../contracts/index.ts';
import type { DispatchExecutorHelpers } from '../../dispatch/index.ts';
import { MAX_TIMER_MS, pause } from '../../gate/index.ts';
import type { ChatChunk } from '../models/openai/index.ts';
import { MAX_EVENT_BYTES, repairEvents, retryAfter, upTo } from '../models/wire/index.ts';
import type { ChatAnswer } from './chat-run.ts';
import type { OpenAIChatCompletionsOptions } from './options.ts';

const retried = [429, 502, 503, 504];

/**
 * Sends one request, again where that is asked for, and gives its answer's chunks.
 * @throws CoxswainError `UNAVAILABLE, … / E_MODEL`; the signal's reason
 */
export async function askHttp(
  options: OpenAIChatCompletionsOptions,
  body: Record<string, unknown>,
  signal: AbortSignal,
  { log }: DispatchExecutorHelpers,
): Promise<ChatAnswer> {
  const { maxAttempts = 1, initialDelayMs = 500, maxDelayMs = 30_000, statuses = retried } = options.retry ?? {};
  for (let attempt = 1; ; attempt++) {
    const limits = limitsOf(options, signal);
    const response = await send(options, body, limits.signal);
    if (response.ok && response.body) return answerOf(response, response.body, body.stream === true, limits);
    const text = (await textOf(response).catch(() => '')).slice(0, 2000);
    limits.stop();
    const isRetried = attempt < maxAttempts && statuses.includes(response.status);
    const asked = retryAfter(response.headers, Date.now);
    if (!isRetried || (asked !== undefined && asked > maxDelayMs)) throw refused(response.status, text);
    const delay = asked ?? Math.min(maxDelayMs, initialDelayMs * 2 ** (attempt - 1));
    log.warn({
      kind: 'retry',
      message: `status ${response.status}, attempt ${attempt + 1} follows`,
      payload: { delay },
    });
    await (options.helpers?.sleep ?? pause)(delay, signal);
  }
}

interface Limits {
  signal: AbortSignal;
  /** A piece has come. */
  heard(): void;
  stop(): void;
}

function limitsOf({ requestTimeoutMs, idleTimeoutMs }: OpenAIChatCompletionsOptions, outer: AbortSignal): Limits {
  const own = new AbortController();
  const late = (what: string) => () =>
    own.abort(new CoxswainError('DEADLINE_EXCEEDED', 'E_MODEL', `the model's server: ${what}`, { retryable: true }));
  const timer = (what: string, ms: number | undefined) =>
    ms === undefined ? undefined : setTimeout(late(what), Math.min(ms, MAX_TIMER_MS));
  const whole = timer('no answer in time', requestTimeoutMs);
  const idle = timer('silence amid an answer', idleTimeoutMs);
  return {
    signal: AbortSignal.any([outer, own.signal]),
    heard: () => void idle?.refresh(),
    stop() {
      clearTimeout(whole);
      clearTimeout(idle);
    },
  };
}

async function send(
  options: OpenAIChatCompletionsOptions,
  body: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Response> {
  const { baseUrl = 'https://api.openai.com/v1', apiKey, headers } = options;
  const request = options.helpers?.fetch ?? fetch;
  try {
    return await request(`${baseUrl.replace(/\/+$/, '')}/chat/completions`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` }),
        ...headers,
      },
      body: JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw new CoxswainError('UNAVAILABLE', 'E_MODEL', "the model's server cannot be reached", {
      cause: error,
      retryable: true,
    });
  }
}

function answerOf(response: Response, body: ReadableStream<Uint8Array>, stream: boolean, limits: Limits): ChatAnswer {
  let done = false;
  const isJson = response.headers.get('content-type')?.includes('application/json') ?? false;
  const onSentinel = () => {
    done = true;
  };
  async function* chunks(): AsyncGenerator<ChatChunk> {
    try {
      // Some servers do not stream, whatever they are asked.
      if (!stream || isJson) {
        yield JSON.parse(await textOf(response)) as ChatChunk;
        done = true;
        return;
      }
      const text = repairEvents(body, { namedEvents: false, onSentinel, tooLarge }).pipeThrough(
        new TextDecoderStream(),
      );
      let rest = '';
      for await (const piece of text) {
        limits.heard();
        const events = (rest + piece).split('\n\n');
        rest = events.pop() ?? '';
        for (const event of events) {
          const data = dataOf(event);
          if (data !== '' && data !== '[DONE]') yield JSON.parse(data) as ChatChunk;
        }
      }
    } catch (error) {
      if (limits.signal.aborted) throw limits.signal.reason;
      throw error;
    } finally {
      limits.stop();
    }
  }
  return { chunks: chunks(), ended: () => done };
}

function tooLarge(): CoxswainError {
  const message = `the model sent more than ${MAX_EVENT_BYTES} bytes of one event, or of one response`;
  return new CoxswainError('UNAVAILABLE', 'E_MODEL', message);
}

/** @throws CoxswainError `UNAVAILABLE / E_MODEL` where it is too large */
function textOf({ body }: Response): Promise<string> {
  return new Response(body && upTo(body, { tooLarge })).text();
}

/** The data of one event. Lines end with a line feed alone: U+2028 may stand in JSON. */
function dataOf(event: string): string {
  const lines = event.split('\n').map((line) => (line.startsWith('data:') ? line.slice('data:'.length) : line));
  return lines.join('\n').trim();
}

function refused(status: number, text: string): CoxswainError {
  const kind =
    status === 401
      ? 'UNAUTHENTICATED'
      : status === 403
        ? 'PERMISSION_DENIED'
        : status === 429
          ? 'RESOURCE_EXHAUSTED'
          : status < 500
            ? 'INVALID_ARGUMENT'
            : 'UNAVAILABLE';
  const message = `the model's server answered with status ${status}${text === '' ? '' : `: ${text}`}`;
  return new CoxswainError(kind, 'E_MODEL', message, { retryable: retried.includes(status), details: { status } });
}
