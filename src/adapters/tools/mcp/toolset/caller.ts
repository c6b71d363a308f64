import type { CallToolResult, Client, Tool } from '@modelcontextprotocol/client';
import { MAX_TIMER_MS, warnOnStderr } from '../../../../base/index.ts';
import type { ToolCallContext, ToolResult } from '../../../../contracts/index.ts';
import { errorResult } from '../../../../gate/index.ts';
import { unreachable, whyTooLong } from '../../../../session/index.ts';
import type { McpConnection, McpQuestion, McpReply, McpSdk, McpToolsetOptions } from '../wire/index.ts';
import { errorTypeOfThrown, Idle, isForgotten, loadMcpSdk } from '../wire/index.ts';
import { toToolResult } from './content.ts';
import { readResource } from './resources.ts';

export type CallContext = Pick<ToolCallContext, 'signal' | 'progress' | 'elicit'>;

const IDLE_MS = 300_000;
const ANSWER_MS = 600_000;
/** What a server may ask during one call: each is a question to people, and an event of the log. */
const MAX_QUESTIONS = 100;
/** The SDK's own timer knows nothing of people who think. */
const NEVER_MS = 2 ** 31 - 1;

interface UnderWay {
  context: CallContext;
  idle: Idle;
  /** Questions that the server has asked since, while this call was the newest. */
  questions: number;
}

/** What a caller needs of its toolset. */
export interface CallerToolset {
  readonly name: string;
  readonly options: McpToolsetOptions;
  readonly connection: McpConnection;
  /** Ours, which is not sent. */
  readonly reader: Tool;
  /** The tool as it is listed now. Throws where it is not what was judged. */
  definition(): Promise<Tool>;
  /** What was listed may not be so any more. */
  doubt(): void;
}

/** The calls of one toolset that are on their way. */
export class McpCalls {
  readonly #underWay = new Set<UnderWay>();

  async call(caller: CallerToolset, args: Record<string, unknown>, context: CallContext): Promise<ToolResult> {
    const { connection, reader } = caller;
    const sdk = await loadMcpSdk();
    for (let isRetry = false; ; isRetry = true) {
      const definition = await caller.definition();
      if (definition === reader) return await this.#read(caller, args, context.signal, sdk);
      const client = await connection.client();
      const sessionId = client.transport?.sessionId;
      const idle = new Idle(caller.options.idleMs ?? IDLE_MS);
      const underWay = { context, idle, questions: 0 };
      this.#underWay.add(underWay);
      try {
        return toToolResult(await connection.use(client, () => send(client, definition, args, underWay)));
      } catch (error) {
        if (context.signal.aborted) throw error;
        if (idle.signal.aborted) {
          caller.doubt();
          return errorResult('timeout', `${caller.name} sent nothing in time; the call may have run`);
        }
        if (isRetry || !isForgotten(error, sessionId, sdk)) return failed(caller, error, sdk);
        // The server does not know this session any more, so it has not read anything: once more in a new one.
        caller.doubt();
        await connection.drop(client);
      } finally {
        idle.end();
        this.#underWay.delete(underWay);
      }
    }
  }

  /**
   * Asks what a server wants to know. Which of several calls it is about is not said: the newest whose host can ask
   * stands for it, and none of them is given up meanwhile.
   */
  async ask(
    question: McpQuestion,
    { onElicitation, answerMs = ANSWER_MS, warn = warnOnStderr }: McpToolsetOptions,
    signal: AbortSignal,
  ) {
    const asked = [...this.#underWay];
    const newest = asked.at(-1);
    if (newest && ++newest.questions > MAX_QUESTIONS) {
      if (newest.questions === MAX_QUESTIONS + 1)
        warn(`${question.server}: it asks more than ${MAX_QUESTIONS} questions during one call: the rest is cancelled`);
      return { action: 'cancel' } satisfies McpReply;
    }
    const tooLong = whyTooLong(question);
    if (tooLong !== undefined) {
      warn(`${question.server}: ${tooLong}`);
      return { action: 'cancel' } satisfies McpReply;
    }
    for (const { idle } of asked) idle.hold();
    try {
      if (onElicitation) return await onElicitation(question, { signal });
      const { context } = asked.findLast(({ context: { elicit } }) => elicit !== undefined) ?? {};
      if (!context?.elicit) return { action: 'cancel' } satisfies McpReply;
      const { server, message, requestedSchema, url } = question;
      const limit = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(Math.min(answerMs, MAX_TIMER_MS)))]);
      const reply = await context.elicit(
        {
          message: `${server} asks: ${message}${url === undefined ? '' : `\nOpen this page? ${url}`}`,
          ...(requestedSchema ? { requestedSchema } : {}),
          context: { server, ...(url === undefined ? {} : { url }) },
        },
        limit,
      );
      return reply as McpReply;
    } finally {
      for (const { idle } of asked) idle.release();
    }
  }

  /** Reading may be asked for twice: nothing comes of it. */
  async #read(
    caller: CallerToolset,
    args: Record<string, unknown>,
    signal: AbortSignal,
    sdk: McpSdk,
  ): Promise<ToolResult> {
    try {
      return await caller.connection.ask((client) => readResource(client, args, signal), { believed: true });
    } catch (error) {
      if (signal.aborted) throw error;
      return failed(caller, error, sdk);
    }
  }
}

function failed({ name, connection, doubt }: CallerToolset, error: unknown, sdk: McpSdk): ToolResult {
  const why = connection.explain(error);
  // Whatever it was may be how this server refuses a session that it does not know: the next listing finds out.
  doubt();
  const errorType = errorTypeOfThrown(error, sdk);
  switch (errorType) {
    case 'timeout':
      return errorResult('timeout', `${name} sent nothing in time; the call may have run`);
    case 'interrupted':
      return errorResult('interrupted', `the answer of ${name} was lost; the call may have run (${why})`);
    case 'failed':
      return errorResult('failed', why);
    default:
      return unreachable(errorType, 'an error type');
  }
}

function send(
  client: Client,
  definition: Tool,
  args: Record<string, unknown>,
  { context, idle }: UnderWay,
): Promise<CallToolResult> {
  const { name, outputSchema: _, ...shape } = definition;
  return client.callTool(
    { name, arguments: args },
    {
      signal: AbortSignal.any([context.signal, idle.signal]),
      // Given, the SDK neither sends a call twice, to look the tool up in between, nor drops a result that misfits.
      toolDefinition: { name, ...shape },
      timeout: NEVER_MS,
      onprogress: ({ progress, total, message }) => {
        idle.touch();
        // A method of its context.
        context.progress({
          progress,
          ...(total === undefined ? {} : { total }),
          ...(message === undefined ? {} : { content: [{ type: 'text', text: message }] }),
        });
      },
    },
  );
}
