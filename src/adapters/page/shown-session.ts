import type { AgentEvent, RequestAnswer, SessionInput, Settlement } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { RunResult, SessionView } from '../../session/index.ts';
import { createView, mayAnswer, nameOfPrincipal, runErrorOf } from '../../session/index.ts';
import type { RemoteHost, RemoteSession } from '../remote/index.ts';
import { ShownItems } from './shown-items.ts';
import { errorFor, Snapshots } from './snapshots.ts';
import type { SessionStore, SessionStoreOptions } from './store-types.ts';

type Shown = ReturnType<SessionStore['getSnapshot']>;

/** The session as one subscription has it. */
interface Opened {
  readonly host: RemoteHost;
  readonly session: RemoteSession;
  /** What happens from now on; history is read beside it. */
  readonly live: AsyncIterableIterator<AgentEvent>;
}

/** Events after which other questions may be open than before. */
const asks: ReadonlySet<string> = new Set([
  'elicitation_request',
  'elicitation_response',
  'tool_response',
  'stream_end',
]);

/** A session of a server, followed for a page. */
export class ShownSession implements SessionStore {
  readonly subscribe: SessionStore['subscribe'];
  readonly getSnapshot: SessionStore['getSnapshot'];
  readonly #snapshots: Snapshots<Shown>;
  readonly #remote: RemoteHost | Promise<RemoteHost>;
  readonly #agent: string;
  readonly #options: SessionStoreOptions & { sessionId: string };
  readonly #items = new ShownItems();
  #opening: Promise<Opened> | undefined;
  #opened: Opened | undefined;
  #view: SessionView = createView();
  #pending: Shown['pending'] = [];
  #error: RunResult['error'];
  #isLoaded = false;
  /** Messages that the server has not taken yet. */
  #sending = 0;
  /** Streams that were begun here: a session that is closed would end them. */
  readonly #streams = new Set<Promise<void>>();
  #asking: Promise<void> | undefined;
  #isToAsk = false;

  constructor(remote: RemoteHost | Promise<RemoteHost>, agent: string, options: SessionStoreOptions) {
    this.#remote = remote;
    this.#agent = agent;
    this.#options = { ...options, sessionId: options.sessionId ?? crypto.randomUUID() };
    if (options.sessionId === undefined) this.#options.create = true;
    this.#snapshots = new Snapshots(
      () => this.#shown(),
      (gone) => void this.#follow(gone),
    );
    this.subscribe = this.#snapshots.subscribe;
    this.getSnapshot = this.#snapshots.get;
  }

  readonly send = async (input: string | SessionInput): Promise<boolean> => {
    this.#sending++;
    this.#snapshots.change();
    const begun = await this.#act(async ({ session }) => {
      await this.#control(session);
      const stream = session.stream(input)[Symbol.asyncIterator]();
      await stream.next();
      const over = this.#drain(stream).finally(() => this.#streams.delete(over));
      this.#streams.add(over);
      return true;
    });
    this.#sending--;
    this.#snapshots.change();
    return begun ?? false;
  };

  readonly respond = (requestId: string, answer: RequestAnswer): Promise<Settlement | undefined> => {
    // An approval is of what was shown, not of what is asked under the same id meanwhile.
    const shown = this.#pending.find((one) => one.requestId === requestId)?.approval;
    const bound = answer.kind === 'approve' && shown ? { previewDigest: shown.previewDigest, ...answer } : answer;
    return this.#act(async ({ host, session: { id: sessionId } }) => {
      const place = { agent: this.#agent, userId: nameOfPrincipal(host.principal), sessionId };
      return host.approvals.decide(requestId, bound, place);
    });
  };

  readonly steer = async (content: string): Promise<boolean> =>
    (await this.#act(async ({ session }) => {
      await this.#control(session);
      return session.steer({ content });
    })) !== undefined;

  readonly abort = async (reason?: string): Promise<boolean> =>
    (await this.#act(async ({ session }) => {
      await this.#control(session);
      await session.abort(reason === undefined ? {} : { reason });
      return true;
    })) ?? false;

  /** The tab that acts last has control: a person has several tabs. */
  async #control(session: RemoteSession): Promise<void> {
    if (!session.controls && this.#options.control !== false) await session.takeControl();
  }

  /** What a person does. It never rejects: a page shows why not. */
  async #act<T>(does: (opened: Opened) => Promise<T>): Promise<T | undefined> {
    try {
      if (!this.#opening) throw notFollowed();
      const opened = await this.#opening;
      const done = await does(opened);
      this.#error = undefined;
      return done;
    } catch (error) {
      this.#error = errorFor(error);
      return undefined;
    } finally {
      void this.#ask();
      this.#snapshots.change();
    }
  }

  async #follow(gone: AbortSignal): Promise<void> {
    const opening = this.#open();
    this.#opening = opening;
    let forget = () => {};
    let opened: Opened | undefined;
    try {
      opened = await opening;
      const { host, session, live } = opened;
      gone.addEventListener('abort', () => void live.return?.());
      if (gone.aborted) return;
      this.#opened = opened;
      forget = host.onState((state) => {
        if (state === 'ready') void this.#ask();
        this.#snapshots.change();
      });
      const view = createView();
      for await (const event of session.events()) {
        if (gone.aborted) return;
        this.#take(view, event);
      }
      this.#view = view;
      await this.#ask();
      this.#isLoaded = true;
      this.#snapshots.change();
      for await (const event of live) {
        this.#take(view, event);
        // What runs is known by asking, where it was not begun here.
        if (asks.has(event.type) || (view.status === 'running' && !session.isRunning)) void this.#ask();
        this.#snapshots.change();
      }
    } catch (error) {
      if (!gone.aborted) this.#error = errorFor(error);
    } finally {
      forget();
      if (this.#opening === opening) {
        this.#opening = undefined;
        this.#opened = undefined;
        this.#isLoaded = false;
      }
      this.#snapshots.change();
      if (opened) await this.#close(opened.session);
    }
  }

  async #open(): Promise<Opened> {
    const host = await this.#remote;
    const session = await host.open(this.#agent, this.#options);
    return { host, session, live: session.watch() };
  }

  async #close(session: RemoteSession): Promise<void> {
    await Promise.all(this.#streams);
    await session[Symbol.asyncDispose]();
  }

  /** Its events come by `watch`, whoever began it. */
  async #drain(stream: AsyncIterator<AgentEvent>): Promise<void> {
    try {
      while (!(await stream.next()).done);
    } catch (error) {
      this.#error = errorFor(error);
      this.#snapshots.change();
    }
  }

  #take(view: SessionView, event: AgentEvent): void {
    view.apply(event);
    // Known before the server is asked what is open now.
    if (event.type === 'elicitation_response') this.#answered(({ requestId }) => requestId === event.requestId);
    if (event.type === 'tool_response') this.#answered(({ callId }) => callId === event.requestId);
    if (event.type === 'error' && event.fatal) {
      this.#error = runErrorOf(event);
    } else if (event.type === 'message' && event.role === 'user') this.#error = undefined;
  }

  #answered(isIt: (question: Shown['pending'][number]) => boolean): void {
    if (this.#pending.some(isIt)) this.#pending = this.#pending.filter((question) => !isIt(question));
  }

  /** Reads what is open; once more, where something has happened meanwhile. */
  #ask(): Promise<void> {
    this.#isToAsk = true;
    this.#asking ??= this.#askAll().finally(() => {
      this.#asking = undefined;
      this.#snapshots.change();
    });
    return this.#asking;
  }

  async #askAll(): Promise<void> {
    while (this.#isToAsk && this.#opened) {
      this.#isToAsk = false;
      const { host, session } = this.#opened;
      try {
        const open = await session.pending();
        this.#view.ask(open);
        this.#pending = open
          .filter(({ kind }) => kind !== 'tool')
          .map((question) => ({ ...question, mayAnswer: mayAnswer(question, host.principal) }));
      } catch (error) {
        this.#error ??= errorFor(error);
      }
    }
  }

  #shown(): Shown {
    const { host } = this.#opened ?? {};
    const state = this.#opening ? 'connecting' : 'closed';
    return {
      connection: this.#isLoaded && host ? host.state : state,
      sessionId: this.#options.sessionId,
      items: this.#items.of(this.#view.items),
      status: this.#status(),
      pending: this.#pending,
      ...(this.#error ? { error: this.#error } : {}),
    };
  }

  #status(): Shown['status'] {
    if (this.#sending > 0 || this.#opened?.session.isRunning) return 'running';
    if (this.#view.status !== 'running' || this.#asking) return this.#view.status;
    return this.#pending.length > 0 ? 'input_required' : 'idle';
  }
}

function notFollowed(): CoxswainError {
  const message = 'the session is not open here: subscribe to the store first, and look at its error';
  return new CoxswainError('FAILED_PRECONDITION', 'E_SESSION_CLOSED', message);
}
