import type { CallToolResult, ClientCapabilities, McpServer, ServerContext } from '@modelcontextprotocol/server';
import type { Principal, ReportedRequest, Session } from '../../../contracts/index.ts';
import { isCoxswainError } from '../../../contracts/index.ts';
import { nameOfPrincipal } from '../../../session/index.ts';
import type { AgentHost } from '../../index.ts';
import type {
  AgentTool,
  Answers,
  AskingModes,
  ClientQuestion,
  loadServerSdk,
  McpOptions,
  McpTaskOptions,
  Reply,
  TaskSupport,
  Turn,
  TurnPlaces,
} from '../turn/index.ts';
import {
  answerOfAddress,
  answerOfForm,
  bad,
  callToolResult,
  clientQuestion,
  DEFAULT_TASK_AFTER_MS,
  DEFAULT_TASKS,
  isAsked,
  isUrlQuestion,
  LoggedTurns,
  modesOf,
  moot,
  openLines,
  openQuestions,
  UNWATCHED,
} from '../turn/index.ts';
import { aroundHandler } from '../wire/index.ts';
import type { Call, HandedOutcome } from './handed-calls.ts';
import { HandedCalls } from './handed-calls.ts';
import type { TaskPlace } from './task-id.ts';
import { placeOfTask, taskIdOf } from './task-id.ts';
import type { TaskSeed, TaskState } from './task-view.ts';
import { inputRequestsOf, keyOfQuestion, seedOf, taskStateOf } from './task-view.ts';

/** Name of the extension. */
const TASKS = 'io.modelcontextprotocol/tasks';
const NEEDED = { extensions: { [TASKS]: {} } };

/** Milliseconds that an acknowledgement waits for what it cancels: that may take as long as its tools do. */
const CANCEL_MS = 1_000;

/** What tasks need of the server that they are of. */
export interface TasksFrame {
  readonly host: AgentHost;
  readonly options: McpOptions;
  readonly sdk: Awaited<ReturnType<typeof loadServerSdk>>;
  readonly places: TurnPlaces;
  readonly warn: (message: string, error?: unknown) => void;
  principalOf(context: ServerContext): Principal | undefined;
  capabilitiesOf(context: ServerContext): ClientCapabilities | undefined;
  /** Goes on with a turn, on behalf of whoever asks for it. */
  resume(tool: AgentTool, context: ServerContext, turn: Answers): Call;
}

/** One task as one request finds it. */
interface Found {
  taskId: string;
  place: TaskPlace;
  tool: AgentTool;
  session: Session;
  log: LoggedTurns;
  turn: Turn;
  context: ServerContext;
  by: Principal | undefined;
  modes: AskingModes;
}

/** Calls as tasks: the id of one is its place in the log, and what the log says of that is its state. */
export class Tasks {
  readonly #frame: TasksFrame;
  readonly #tools: ReadonlyMap<string, AgentTool>;
  readonly #support: ReadonlyMap<string, TaskSupport>;
  readonly #afterMs: number;
  readonly #handed: HandedCalls;
  /** What calls have become instead of results, by the signals of their requests. */
  readonly #made = new WeakMap<AbortSignal, TaskSeed>();

  /** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for agents that are none, or whose calls cannot be tasks */
  constructor(frame: TasksFrame, tools: readonly AgentTool[], options: McpTaskOptions) {
    this.#frame = frame;
    this.#tools = new Map(tools.map((tool) => [tool.agent.name, tool]));
    this.#afterMs = options.afterMs ?? DEFAULT_TASK_AFTER_MS;
    this.#handed = new HandedCalls(options.maxRunning ?? DEFAULT_TASKS, frame.warn);
    const given = new Map(Object.entries(options.support ?? {}));
    for (const [name, support] of given) {
      const tool = this.#tools.get(name);
      if (!tool) throw bad(`tasks.support has ${name}, which is no agent of this server`);
      if (support !== 'forbidden' && !outlives(tool)) {
        throw bad(`tasks.support has ${name}: its sessions cannot be opened again, so its calls cannot be tasks`);
      }
    }
    const usual = (tool: AgentTool) => (outlives(tool) ? 'optional' : 'forbidden');
    this.#support = new Map(tools.map((tool) => [tool.name, given.get(tool.agent.name) ?? usual(tool)]));
  }

  /** Serves them on one server of the 2026 version, before its tools are registered. */
  serve(server: McpServer): void {
    server.server.registerCapabilities(NEEDED);
    aroundHandler(server, 'tools/call', async (request, context, next) => {
      if (this.#support.get(String(request.params.name)) === 'required') this.#assertDeclared(context);
      const result = await next(request, context);
      const task = this.#made.get(context.mcpReq.signal);
      return task ? { resultType: 'task', ...task } : result;
    });
    const params = this.#frame.sdk.fromJsonSchema<{ taskId: string }>(TASK_PARAMS);
    const handle = (method: string, work: (found: Found) => Promise<Record<string, unknown>>) =>
      server.server.setRequestHandler(method, { params }, ({ taskId }, context) => {
        this.#assertDeclared(context);
        return this.#with(taskId, context, work);
      });
    handle('tasks/get', async (found) => ({ ...(await this.#get(found)) }));
    handle('tasks/update', (found) => this.#update(found));
    handle('tasks/cancel', (found) => this.#cancel(found));
  }

  /** A call of a tool, which becomes a task where it takes long and its caller knows tasks. */
  async call(tool: AgentTool, context: ServerContext, call: Call): Promise<HandedOutcome> {
    const support = this.#support.get(tool.name);
    if (support === 'forbidden' || !this.#isDeclared(context)) return call(context, UNWATCHED);
    const by = this.#frame.principalOf(context);
    const made = await this.#handed.make(context, call, {
      afterMs: support === 'required' ? 0 : this.#afterMs,
      owner: ownerOf(by),
      seed: async (sessionId, turnId) => {
        const taskId = taskIdOf({ agent: tool.agent.name, sessionId, turnId });
        const task = await this.#with(taskId, context, async (found) => seedOf(await this.#state(found)));
        return { key: keyOf(by, taskId), task };
      },
    });
    if ('outcome' in made) return made.outcome;
    this.#made.set(context.mcpReq.signal, made.task);
    return PLACEHOLDER;
  }

  async #get(found: Found): Promise<TaskState> {
    const state = await this.#state(found);
    // What nobody runs goes on: its process has died, or it was answered.
    if (state.status === 'working' && state.statusMessage === undefined) this.#goOn(found);
    return state;
  }

  async #update(found: Found): Promise<Record<string, unknown>> {
    // What is open then is another turn's.
    if (await this.#isOver(found)) return {};
    const { session, context, by } = found;
    const { inputResponse } = this.#frame.sdk;
    const { questions } = await this.#waiting(found);
    let isAnswered = false;
    for (const question of questions) {
      if (typeof question === 'string') continue;
      const view = inputResponse(context.mcpReq.inputResponses, keyOfQuestion(question.request));
      if (view.kind !== 'elicit') continue;
      const answer = answerTo(question, view, this.#answerer(question.request, by));
      if (!answer) continue;
      isAnswered = true;
      try {
        await session.respond(question.request.requestId, answer);
      } catch (error) {
        if (!isCoxswainError(error) || !moot.has(error.code)) throw error;
      }
    }
    if (isAnswered && (await this.#waiting(found)).open.length === 0) this.#goOn(found);
    return {};
  }

  async #cancel(found: Found): Promise<Record<string, unknown>> {
    if (await this.#isOver(found)) return {};
    const abort = found.session.abort({ reason: 'the caller cancelled the task' }).catch((error: unknown) => {
      // Whoever runs it was asked, no more.
      if (!isCoxswainError(error) || error.code !== 'E_SESSION_BUSY') throw error;
    });
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, CANCEL_MS);
    await Promise.race([abort, late]).finally(() => clearTimeout(timer));
    return {};
  }

  /** What the log says. */
  async #state(found: Found): Promise<TaskState> {
    const { taskId, tool, session, turn } = found;
    if (isEnded(turn)) {
      if (turn.reason === 'aborted') {
        return taskStateOf(taskId, turn, { status: 'cancelled', ...messageOf(turn.error) });
      }
      if (turn.isBroken) {
        const message = `${tool.name} did not finish (${turn.error})`;
        const error = { code: this.#frame.sdk.INTERNAL_ERROR, message };
        return taskStateOf(taskId, turn, { status: 'failed', statusMessage: message, error });
      }
      return taskStateOf(taskId, turn, { status: 'completed', result: callToolResult(tool, session, turn) });
    }
    if (await this.#isOver(found)) {
      return taskStateOf(taskId, turn, { status: 'cancelled', statusMessage: SUPERSEDED });
    }
    const { open, questions } = await this.#waiting(found);
    if (open.length === 0) return taskStateOf(taskId, turn, { status: 'working' });
    const asked = questions.filter((question) => typeof question !== 'string');
    if (asked.length > 0) {
      const inputRequests = inputRequestsOf(asked, this.#frame.sdk);
      return taskStateOf(taskId, turn, { status: 'input_required', inputRequests });
    }
    const why = questions.find((question) => typeof question === 'string');
    const lines = openLines(tool, session, open, this.#frame.options);
    const statusMessage = `It waits for an answer that cannot be given here: ${why}.\n${lines.join('\n')}`;
    return taskStateOf(taskId, turn, { status: 'working', statusMessage });
  }

  /** What of the turn waits for a person, and how this client can ask its user for it. */
  async #waiting({ session, turn, by, modes }: Found): Promise<{
    open: ReportedRequest[];
    questions: (ClientQuestion | string)[];
  }> {
    // Of a session that has come no further, all is the turn's: what its sub-agents ask has the ids of their own turns.
    const all = await openQuestions(session);
    const open = turn.reason === 'input_required' ? all : all.filter(isAsked);
    return { open, questions: open.map((request) => clientQuestion(request, this.#answerer(request, by), modes)) };
  }

  #answerer(request: ReportedRequest, by: Principal | undefined): Principal {
    return by ?? request.approval?.requestedBy ?? { id: 'local' };
  }

  /** Whether nothing can come of it any more: it has ended, or another message was given to its session. */
  async #isOver({ turn, log, place }: Found): Promise<boolean> {
    return isEnded(turn) || (await log.newest()) !== place.turnId;
  }

  #goOn({ taskId, tool, place, context, by }: Found): void {
    const turn: Answers = { call: { ...place, asked: [] }, replyTo: () => undefined };
    this.#handed.goOn(keyOf(by, taskId), ownerOf(by), context, this.#frame.resume(tool, context, turn));
  }

  /** Somebody else's task, or none, is one and the same. */
  async #with<T>(taskId: string, context: ServerContext, work: (found: Found) => Promise<T>): Promise<T> {
    const { host, options, places, sdk } = this.#frame;
    const place = placeOfTask(taskId);
    const tool = place && this.#tools.get(place.agent);
    if (!place || !tool) throw this.#unknown();
    const by = this.#frame.principalOf(context);
    const { permissionMode } = options;
    let session: Session;
    try {
      session = await host.open(place.agent, {
        sessionId: place.sessionId,
        ...(by ? { principal: by, userId: nameOfPrincipal(by) } : {}),
        ...(permissionMode === undefined ? {} : { permissionMode }),
      });
    } catch (error) {
      throw isCoxswainError(error) && unfound.has(error.status) ? this.#unknown() : this.#broken(error);
    }
    try {
      const name = JSON.stringify([place.agent, ownerOf(by), session.id]);
      const log = new LoggedTurns(session, places, name);
      const turn = await log.of(place.turnId);
      if (turn.id === undefined) throw this.#unknown();
      const modes = modesOf(this.#frame.capabilitiesOf(context), options.cards === true);
      return await work({ taskId, place, tool, session, log, turn, context, by, modes });
    } catch (error) {
      throw error instanceof sdk.ProtocolError ? error : this.#broken(error);
    } finally {
      await session[Symbol.asyncDispose]();
    }
  }

  #unknown(): Error {
    const { ProtocolError, ProtocolErrorCode } = this.#frame.sdk;
    return new ProtocolError(ProtocolErrorCode.InvalidParams, 'there is no task of this id, or no more');
  }

  #broken(error: unknown): Error {
    const { ProtocolError, ProtocolErrorCode } = this.#frame.sdk;
    if (!isCoxswainError(error)) this.#frame.warn('what became of a task could not be said', error);
    // Any other error's text is the host's own.
    const words = isCoxswainError(error) ? `${error.code}: ${error.message}` : 'the host could not answer';
    return new ProtocolError(ProtocolErrorCode.InternalError, words);
  }

  #isDeclared(context: ServerContext): boolean {
    const declared = this.#frame.capabilitiesOf(context)?.extensions?.[TASKS];
    return typeof declared === 'object' && declared !== null;
  }

  #assertDeclared(context: ServerContext): void {
    if (this.#isDeclared(context)) return;
    throw new this.#frame.sdk.MissingRequiredClientCapabilityError({ requiredCapabilities: NEEDED });
  }
}

const TASK_PARAMS = {
  type: 'object',
  properties: { taskId: { type: 'string' } },
  required: ['taskId'],
} as const;

const SUPERSEDED = 'another message was given to its session before it had ended';

/** The session does not exist for whoever asks, or never can. */
const unfound = new Set<string>(['NOT_FOUND', 'INVALID_ARGUMENT', 'PERMISSION_DENIED']);

/** An error, so that it is held to no output schema. Nobody gets it. */
const PLACEHOLDER: CallToolResult = { content: [], isError: true };

const outlives = ({ agent }: AgentTool): boolean => agent.capabilities.includes('resume');
const ownerOf = (by: Principal | undefined): string => (by ? nameOfPrincipal(by) : '');
const keyOf = (by: Principal | undefined, taskId: string): string => JSON.stringify([ownerOf(by), taskId]);
const isEnded = ({ reason }: Turn): boolean => reason !== undefined && reason !== 'input_required';
const messageOf = (words: string | undefined) => (words === undefined ? {} : { statusMessage: words });

function answerTo(question: ClientQuestion, { action, content }: Reply, by: Principal) {
  if (isUrlQuestion(question)) return answerOfAddress({ action }, by);
  return answerOfForm(question, { action, content }, by);
}
