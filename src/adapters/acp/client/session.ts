import type { McpServer } from '@agentclientprotocol/sdk';
import type { DispatchContext, DispatchExecutorHelpers, Message } from '../../../dispatch/index.ts';
import { storeEvent } from '../../../dispatch/index.ts';
import { blocksOf } from '../calls/index.ts';
import type { AcpPipe } from './child.ts';
import type { AcpFiles } from './client.ts';
import { AcpClient } from './client.ts';
import { AcpTurn } from './turn.ts';

export interface AcpSessionOptions {
  name: string;
  connect(cwd: string): AcpPipe;
  cwd: string;
  mcpServers: readonly McpServer[];
  authMethod?: string | undefined;
  mode?: string | undefined;
  files: AcpFiles;
  unasked: ReadonlySet<string>;
  volatile: ReadonlySet<string>;
  askWithinMs: number;
  startTimeoutMs: number;
  cancelTimeoutMs: number;
}

/** State key of the agent's own id of the session. */
export const SESSION_KEY = 'acp:session';

/** One session with an agent process: started when it is first needed, kept over turns, started again if it dies. */
export class AcpAgentSession {
  readonly #options: AcpSessionOptions;
  #client: AcpClient | undefined;
  /** The agent's id of the session, from the log or from the last process. */
  #known: string | undefined;
  /** Messages that the agent knows. */
  #told = new Set<string>();
  #spent = { usd: 0 };
  /** The run before this one, which may still be on its way out. */
  #last: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: AcpSessionOptions, known: string | undefined) {
    this.#options = options;
    this.#known = known;
  }

  /** The executor: one prompt a run; words that came meanwhile are the next run's. Waits for the one before. */
  answer(ctx: DispatchContext, helpers: DispatchExecutorHelpers): Promise<void> {
    // Words that come while the agent is made ready are the next run's, too.
    const said = [...ctx.turnMessages];
    const run = this.#last.then(async () => {
      try {
        if (!ctx.aborted && (await this.#answer(ctx, helpers, said)) === 'nothing new') ctx.ack();
      } catch (error) {
        if (!ctx.aborted) ctx.nack(error);
      }
    });
    this.#last = run;
    return run;
  }

  async #answer(
    ctx: DispatchContext,
    helpers: DispatchExecutorHelpers,
    said: readonly Message[],
  ): Promise<'nothing new' | 'prompted'> {
    const client = await this.#ready(ctx, said);
    const untold = said.filter(({ id }) => !this.#told.has(id));
    // What a process fell over, or was never told because of an abort, is no order any more: it is told as history.
    const asked = ctx.iteration > 0 ? untold : said.filter(({ role }) => role === 'user').slice(-1);
    const fresh = asked.filter(({ role }) => role === 'user');
    if (fresh.length === 0 && ctx.iteration > 0) return 'nothing new';
    const { promptCapabilities = {} } = client.info.agentCapabilities ?? {};
    const prompt = (await Promise.all(fresh.map((message) => blocksOf(message, promptCapabilities)))).flat();
    if (prompt.length === 0) prompt.push({ type: 'text', text: 'Continue.' });
    const earlier = untold.filter((message) => !fresh.includes(message));
    if (earlier.length > 0) prompt.unshift({ type: 'text', text: transcript(earlier) });
    if (ctx.aborted) return 'prompted';
    for (const { id } of said) this.#told.add(id);
    try {
      await this.#prompt(ctx, helpers, client, prompt);
    } finally {
      for (const { id, role } of ctx.turnMessages) if (role === 'assistant') this.#told.add(id);
    }
    return 'prompted';
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#client?.close();
  }

  async #prompt(
    ctx: DispatchContext,
    helpers: DispatchExecutorHelpers,
    client: AcpClient,
    prompt: Parameters<AcpClient['prompt']>[0],
  ): Promise<void> {
    const { name, files, unasked, volatile, askWithinMs, cancelTimeoutMs } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const cancel = () => {
      timer ??= setTimeout(() => client.kill(), cancelTimeoutMs);
      client.cancel().catch(() => client.kill());
    };
    const turn = new AcpTurn(ctx, helpers, { name, files, unasked, volatile, askWithinMs, cancel, spent: this.#spent });
    ctx.abortSignal.addEventListener('abort', cancel, { once: true });
    const run = turn.run(() => client.prompt(prompt, turn));
    try {
      await run;
    } finally {
      clearTimeout(timer);
      ctx.abortSignal.removeEventListener('abort', cancel);
    }
  }

  async #ready(ctx: DispatchContext, said: readonly Message[]): Promise<AcpClient> {
    if (this.#client) return this.#client;
    const { files, ...options } = this.#options;
    const given = { ...options, reads: files.readTextFile !== undefined, writes: files.writeTextFile !== undefined };
    const client = await AcpClient.start(given, this.#known);
    this.#client = client;
    this.#told = new Set(client.resumed ? said.map(({ id }) => id) : []);
    this.#spent = { usd: 0 };
    void client.gone.then(() => {
      if (this.#client === client) this.#client = undefined;
    });
    if (this.#closed) await client.close();
    if (client.sessionId !== this.#known) {
      this.#known = client.sessionId;
      await storeEvent(ctx, { actions: { stateDelta: { [SESSION_KEY]: client.sessionId } } });
    }
    return client;
  }
}

function transcript(said: readonly Message[]): string {
  const lines = said.map(({ role, content = '' }) => `${role === 'user' ? 'User' : 'You'}: ${content}`);
  // What is asked now is a block of its own, and agents join blocks as they like.
  return `This conversation was begun elsewhere. Until now:\n\n${lines.join('\n\n')}\n\nNow:\n\n`;
}
