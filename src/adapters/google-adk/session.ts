import { isDeepStrictEqual } from 'node:util';
import type { ToolAnnotations } from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError, messageOf, setOwn } from '../../contracts/index.ts';
import type { DispatchContext, DispatchExecutorHelpers, Message } from '../../dispatch/index.ts';
import { storeEvent } from '../../dispatch/index.ts';
import { errorResult, toResponse } from '../../gate/index.ts';
import { newId } from '../../runtime/index.ts';
import { Batches } from './batch.ts';
import { contentOf } from './content.ts';
import { AdkEvents, storableDelta } from './events.ts';
import { assertGated } from './gated.ts';
import { hostToolsOf } from './host-tools.ts';
import { danglingCalls, hostPlugin } from './plugin.ts';
import type {
  AdkAgent,
  AdkContent,
  AdkModule,
  AdkPart,
  AdkSessionService,
  AdkTool,
  AdkToolContext,
  GoogleAdkSession,
} from './types.ts';

export interface AdkExecutorOptions {
  adk: AdkModule;
  agent: AdkAgent;
  sessionService: AdkSessionService;
  plugins: readonly object[];
  services: Readonly<Record<string, object | undefined>>;
  maxLlmCalls: number | undefined;
  streaming: boolean;
  annotations(tool: AdkTool): ToolAnnotations | undefined;
  /** Id of the last message that each session of the package was told, by its place. */
  lastTold: Map<string, string>;
}

export interface AdkPlace {
  appName: string;
  userId: string;
  sessionId: string;
  /** The state as the log has it, what the session shares with others included; the caller's to keep. */
  state(): Record<string, unknown>;
}

/** Sessions whose last message is remembered. */
const REMEMBERED = 10_000;

/** One session of the package, driven turn by turn. */
export class AdkExecutor {
  readonly #options: AdkExecutorOptions;
  readonly #place: AdkPlace;
  readonly #told = new Set<string>();
  /** The state that the package was told last. */
  #state: Readonly<Record<string, unknown>> = {};
  #last: Promise<void> = Promise.resolve();

  constructor(options: AdkExecutorOptions, place: AdkPlace) {
    this.#options = options;
    this.#place = place;
  }

  /** The executor: one run of the package each time; words that came meanwhile are the next run's. */
  answer(ctx: DispatchContext, helpers: DispatchExecutorHelpers): Promise<void> {
    const run = this.#last.then(async () => {
      if (ctx.aborted) return;
      try {
        if ((await this.#answer(ctx, helpers)) === 'nothing new') ctx.ack();
      } catch (error) {
        if (!ctx.aborted) ctx.nack(error);
      }
    });
    this.#last = run;
    return run;
  }

  async #answer(ctx: DispatchContext, helpers: DispatchExecutorHelpers): Promise<'nothing new' | 'ran'> {
    const said = [...ctx.turnMessages];
    const untold = () => said.filter((message) => isUsers(message) && !this.#told.has(message.id));
    if (untold().length === 0 && ctx.iteration > 0) return 'nothing new';
    const session = await this.#session(said);
    const fresh = untold();
    await this.#heal(session);
    const message = fresh.at(-1);
    for (const earlier of fresh.slice(0, -1))
      await this.#append(session, { author: 'user', content: await contentOf(earlier) });
    for (const { id } of said) this.#told.add(id);
    this.#remember(said.at(-1)?.id);
    await this.#run(
      ctx,
      helpers,
      message ? await contentOf(message) : { role: 'user', parts: [{ text: 'Continue.' }] },
    );
    return 'ran';
  }

  async #run(ctx: DispatchContext, helpers: DispatchExecutorHelpers, newMessage: AdkContent): Promise<void> {
    const { adk, agent, maxLlmCalls, streaming } = this.#options;
    const { appName, userId, sessionId } = this.#place;
    const runner = this.#runner(ctx, agent, appName);
    const events = new AdkEvents(ctx, helpers, agent);
    const runConfig = {
      streamingMode: streaming ? adk.StreamingMode.SSE : adk.StreamingMode.NONE,
      ...(maxLlmCalls === undefined ? {} : { maxLlmCalls }),
    };
    const request = { userId, sessionId, newMessage, runConfig, abortSignal: ctx.abortSignal };
    try {
      for await (const event of runner.runAsync(request as never)) {
        if (ctx.aborted) return;
        await events.take(event);
      }
    } catch (error) {
      if (isCoxswainError(error)) throw error;
      const message = `agent ${agent.name}: ${messageOf(error)}`;
      throw new CoxswainError('INTERNAL', 'E_LLM_EXECUTION_EXECUTOR_ERROR', message, { cause: error });
    }
    if (events.failure && !ctx.aborted) throw events.failure;
  }

  #runner(ctx: DispatchContext, agent: AdkAgent, appName: string): InstanceType<AdkModule['Runner']> {
    const { adk, plugins, sessionService, services, annotations } = this.#options;
    // A toolset may have brought the agent, and the tree may have grown since it was given.
    assertGated(adk, agent, agent.name);
    const runAgentTool = (tool: AdkTool, args: Record<string, unknown>, context: AdkToolContext) =>
      this.#runAgentTool(ctx, tool, args, context);
    const batches = new Batches(ctx, { adk, plugins, annotations, runAgentTool });
    const plugin = hostPlugin(adk, {
      run: (call, toolOf) => batches.run(call, toolOf),
      unknown: (name, args, valid) => answerUnknown(ctx, name, args, valid),
      hostTools: () => hostToolsOf(adk, ctx),
    });
    return new adk.Runner({
      ...services,
      appName,
      agent,
      sessionService,
      plugins: [plugin, ...plugins],
      resumabilityConfig: { isResumable: true },
    } as never);
  }

  /** An agent that is called as a tool: the package would run it without plugins, its tools past the gate. */
  async #runAgentTool(
    ctx: DispatchContext,
    tool: AdkTool,
    args: Record<string, unknown>,
    context: AdkToolContext,
  ): Promise<unknown> {
    const { agent } = tool as AdkTool & { agent: AdkAgent & { inputSchema?: unknown; outputSchema?: unknown } };
    const { sessionService } = this.#options;
    const { userId } = this.#place;
    const runner = this.#runner(ctx, agent, agent.name);
    const sessionId = `${this.#place.sessionId}.${context.functionCallId ?? newId()}`;
    await sessionService.getOrCreateSession({
      appName: agent.name,
      userId,
      sessionId,
      state: context.state.toRecord(),
    });
    const text = agent.inputSchema ? JSON.stringify(args) : String(args.request ?? '');
    const request = {
      userId,
      sessionId,
      newMessage: { role: 'user', parts: [{ text }] },
      abortSignal: ctx.abortSignal,
    };
    let answer = '';
    for await (const event of runner.runAsync(request as never)) {
      const delta = storableDelta(event.actions.stateDelta);
      if (Object.keys(delta).length > 0) context.state.update(delta);
      if (event.errorCode !== undefined && event.errorCode !== 'STOP') {
        throw new CoxswainError('INTERNAL', 'E_MODEL', `${agent.name}: ${event.errorMessage ?? event.errorCode}`);
      }
      if (event.partial) continue;
      const parts: readonly AdkPart[] = event.content?.parts ?? [];
      answer = parts.flatMap(({ text, thought }) => (text && !thought ? [text] : [])).join('\n');
    }
    if (ctx.aborted) throw ctx.abortSignal.reason;
    if (answer !== '') {
      const caller = (context.invocationContext.agent as AdkAgent | undefined)?.name ?? this.#options.agent.name;
      const content = { role: 'model' as const, parts: [{ type: 'text' as const, text: answer }] };
      await storeEvent(ctx, { author: agent.name, branch: `${caller}.${agent.name}`, content });
    }
    return agent.outputSchema ? JSON.parse(answer) : answer;
  }

  /** The package's session; made anew from the log where it is gone, so that a restart loses nothing. */
  async #session(said: readonly Message[]): Promise<GoogleAdkSession> {
    const { sessionService, agent } = this.#options;
    const { state: stateNow, ...key } = this.#place;
    const known = await this.#known(said);
    const state = stateNow();
    const before = said.slice(0, Math.max(0, said.findLastIndex(isUsers)));
    if (known) {
      if (this.#told.size === 0) for (const { id } of before) this.#told.add(id);
      await this.#tellState(known, state);
      return known;
    }
    this.#state = state;
    const session = await sessionService.createSession({ ...key, state });
    for (const message of before) {
      const author = message.role === 'assistant' ? agent.name : message.identity;
      await this.#append(session, { author, content: asSaid(await contentOf(message), author) });
      this.#told.add(message.id);
    }
    return session;
  }

  /** The package's session, unless it is of a log that was deleted, or taken back behind what it was told. */
  async #known(said: readonly Message[]): Promise<GoogleAdkSession | undefined> {
    const { sessionService, lastTold } = this.#options;
    const { state: _, ...key } = this.#place;
    const known = await sessionService.getSession(key);
    const last = lastTold.get(this.#key);
    if (!known || last === undefined || said.some(({ id }) => id === last)) return known;
    await sessionService.deleteSession(key);
    this.#told.clear();
    return undefined;
  }

  #remember(id: string | undefined): void {
    const { lastTold } = this.#options;
    lastTold.delete(this.#key);
    if (id === undefined) return;
    lastTold.set(this.#key, id);
    const [oldest] = lastTold.keys();
    if (lastTold.size > REMEMBERED && oldest !== undefined) lastTold.delete(oldest);
  }

  get #key(): string {
    const { appName, userId, sessionId } = this.#place;
    return JSON.stringify([appName, userId, sessionId]);
  }

  /** What others have changed of the state since the last run: shared keys, a rewind. */
  async #tellState(session: GoogleAdkSession, state: Readonly<Record<string, unknown>>): Promise<void> {
    const delta: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(state)) {
      if (!isDeepStrictEqual(session.state[key], value)) setOwn(delta, key, value);
    }
    for (const key of Object.keys(this.#state)) {
      if (!Object.hasOwn(state, key) && (session.state[key] ?? null) !== null) setOwn(delta, key, null);
    }
    this.#state = state;
    if (Object.keys(delta).length > 0) await this.#append(session, { author: 'user', actions: { stateDelta: delta } });
  }

  /** What an abort or a crash has left without an answer would be left so for ever. */
  async #heal(session: GoogleAdkSession): Promise<void> {
    for (const { id, name, author, branch } of danglingCalls(session.events)) {
      const response = { error: 'interrupted: its effects are unknown' };
      const content = { role: 'user', parts: [{ functionResponse: { id, name, response } }] };
      await this.#append(session, { author, content, ...(branch === undefined ? {} : { branch }) });
    }
  }

  async #append(session: GoogleAdkSession, init: Appended): Promise<void> {
    const { adk, sessionService } = this.#options;
    const event = adk.createEvent({ invocationId: `coxswain-${newId()}`, ...init } as never);
    await sessionService.appendEvent({ session, event } as never);
  }
}

interface Appended {
  author: string;
  content?: AdkContent;
  branch?: string;
  actions?: { stateDelta: Record<string, unknown> };
}

/** Neither policy nor a person is asked about what is not there. */
async function answerUnknown(
  ctx: DispatchContext,
  name: string,
  args: Record<string, unknown>,
  valid: readonly string[],
): Promise<Record<string, unknown>> {
  const message = `Tool not found: ${name}. Valid tools: ${valid.join(', ') || 'none'}`;
  const id = newId();
  const { response } = toResponse(errorResult('not_found', message));
  await storeEvent(ctx, { content: { role: 'model', parts: [{ type: 'function_call', id, name, args }] } });
  await storeEvent(ctx, {
    content: {
      role: 'user',
      parts: [{ type: 'function_response', id, name, response, isError: true, errorType: 'not_found' }],
    },
  });
  return { error: message };
}

/** Other agents' words stand among the user's, under their names. */
function isUsers({ role, identity }: Message): boolean {
  return role === 'user' && identity === 'user';
}

/** Without the name that an agent's words are given for everybody else. */
function asSaid(content: AdkContent, author: string): AdkContent {
  if (author === 'user') return content;
  const mark = `[${author}] `;
  const parts = (content.parts ?? []).map((part) =>
    part.text?.startsWith(mark) ? { ...part, text: part.text.slice(mark.length) } : part,
  );
  return { role: 'model', parts };
}
