import type {
  AgentEvent,
  Dispatcher,
  HostJournal,
  Outcomes,
  SessionInput,
  SessionPlace,
} from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../../contracts/index.ts';
import type { JoiningOptions } from '../../session/index.ts';
import { SCHEDULE_BOOK, unlessSince } from '../../session/index.ts';
import type { ApprovalHost } from '../approvals/index.ts';
import { isLeft, lookInto } from '../approvals/index.ts';
import type { HostedSession } from '../hosted/index.ts';
import { isUnfinished, resume } from '../hosted/index.ts';
import type { OpenOptions } from '../terms/index.ts';
import { HeldTurns } from './held-turns.ts';
import type { StandingTurn, Webhooks } from './owed.ts';
import { OUTCOMES, OwedOutcomes } from './owed-outcomes.ts';
import { ProcessDispatcher } from './process-dispatcher.ts';
import { HostSchedules, SCHEDULES } from './schedules.ts';
import { StateBook } from './state-book.ts';
import type { SubmitOptions, SubmittedTurn } from './submit.ts';
import { checkPriority, splitOptions, storeBeginning } from './submit.ts';
import type { Work, WorkHost, WorkOptions } from './work.ts';
import { HostWork } from './work.ts';

/** Milliseconds after which an outcome that is left to others is put off no more: who has its receiver looks for it. */
const MOST_LEFT_MS = 60_000;
/** Looks that a host does at a time for itself. */
const OWN_CONCURRENCY = 64;

/** What turns in the background need of a host. */
export interface BackgroundHost
  extends Omit<WorkHost, 'look' | 'findDue' | 'givenUp' | 'settled'>,
    Pick<ApprovalHost, 'during'> {
  open(agent: string, options: OpenOptions): Promise<HostedSession>;
  /** The mark of a holder whose process is gone, where there is nothing to do in its session. */
  releaseDead(place: SessionPlace): Promise<void>;
  readonly app: string;
  /** Whose sessions are begun where nobody is named. */
  readonly userId: string;
  readonly agents: { has(agent: string): boolean };
  readonly outcomes: Outcomes | undefined;
  /** Where it keeps what it knows of no session. */
  readonly journal: HostJournal;
}

/** A turn that is begun once. */
interface OnceBegun {
  agent: string;
  input: string;
  userId: string;
  sessionId: string;
  /** The same from whoever begins it. */
  streamId: string;
  priority?: number;
  webhook?: string;
}

/** Turns that no client holds: begun by a word, and gone on with by whichever program is woken for them. */
export class Background {
  readonly #host: BackgroundHost;
  /** Of other programs too, where one was given. */
  readonly given: Dispatcher | undefined;
  readonly schedules: HostSchedules;
  /** Absent: nobody is sent any. */
  readonly outcomes: OwedOutcomes | undefined;
  readonly #workers = new Set<HostWork>();
  readonly #held = new HeldTurns();
  /** Outcomes that were left to others. */
  readonly #left = new HeldTurns();
  #hasLeft = false;
  #own: ProcessDispatcher | undefined;
  /** Until the own one is at rest. */
  #quiet: Promise<void> | undefined;
  #isClosed = false;

  constructor(host: BackgroundHost, dispatcher: Dispatcher | undefined) {
    this.#host = host;
    this.given = dispatcher;
    const { agents, userId, warn } = host;
    this.schedules = new HostSchedules(
      {
        agents,
        userId,
        warn,
        begin: (turn) => this.#beginOnce(turn),
        checkWebhook: (webhook, where) => this.#checkWebhook(webhook, where),
        wakeAt: (place, at) => this.#wakeAt(place, at),
      },
      new StateBook(host.journal, host.app, SCHEDULE_BOOK),
    );
    const { app, outcomes, journal } = host;
    const wakeAt = (place: SessionPlace, at: Date) => this.#wakeAt(place, at);
    const turn = (place: SessionPlace, after: string | undefined, look: (event: AgentEvent) => void) =>
      lookInto(host, place, (session) => standingTurn(session, after, look));
    this.outcomes = outcomes && new OwedOutcomes({ app, turn, wakeAt, warn }, outcomes, journal);
  }

  /** Of a host without `outcomes` nothing can be given up. */
  get webhooks(): Webhooks {
    return this.outcomes ?? { givenUp: async () => [], sendAgain: async () => false };
  }

  async submit(
    agent: string,
    input: string | SessionInput | readonly SessionInput[],
    options: SubmitOptions,
    once: Pick<JoiningOptions, 'streamId' | typeof unlessSince> = {},
  ): Promise<SubmittedTurn> {
    const { open, turn } = splitOptions(options);
    checkPriority(options.priority, 'submit: options');
    if ('ephemeral' in open) throw notStored();
    const { webhook } = options;
    this.#checkWebhook(webhook);
    if (webhook !== undefined) await this.outcomes?.room.assert();
    const session = await this.#host.open(agent, open);
    const place = { agent, userId: session.frame.userId, sessionId: session.id };
    let begun: Awaited<ReturnType<typeof storeBeginning>> | undefined;
    try {
      begun = await storeBeginning(session, input, { ...turn, ...once });
      if (webhook !== undefined) await this.outcomes?.add(place, begun.turnId, webhook, begun.cursor);
    } finally {
      if (begun?.rest) this.#host.during(this.#finish(session, place, begun.rest));
      else await session[Symbol.asyncDispose]();
    }
    // Its own handle is closed: who is woken might have joined it.
    const { priority } = options;
    if (!begun.rest) await this.wake(place, priority === undefined ? {} : { priority });
    return { ...place, turnId: begun.turnId };
  }

  /** The same for a turn that is begun once, in a session of its own, however many programs do so. */
  async #beginOnce({ agent, input, sessionId, userId, priority, webhook, streamId }: OnceBegun): Promise<void> {
    const place = { agent, userId, sessionId };
    const urgency = priority === undefined ? {} : { priority };
    try {
      if (!(await this.#begun(place))) {
        const told = webhook === undefined ? {} : { webhook };
        const options = { sessionId, userId, create: true, ...urgency, ...told };
        await this.submit(agent, input, options, { streamId, [unlessSince]: 0 });
        return;
      }
    } catch (error) {
      const isTaken =
        isCoxswainError(error) && (error.code === 'E_SESSION_CONFLICT' || error.code === 'E_SESSION_BUSY');
      if (!isTaken || !(await this.#begun(place))) throw error;
    }
    // Whoever has stored it may have died before they noted who is sent its outcome, and before they woke anybody.
    const turnId = webhook === undefined ? undefined : await this.#begun(place);
    if (turnId !== undefined && webhook !== undefined) await this.outcomes?.add(place, turnId, webhook);
    await this.wake(place, urgency);
  }

  /** The turn that a session has begun with; undefined: none. */
  async #begun(place: SessionPlace): Promise<string | undefined> {
    return lookInto(this.#host, place, async (session) => {
      for await (const { turnId } of session.events({ limit: 1 })) return turnId;
      return undefined;
    });
  }

  /** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
  #checkWebhook(webhook: unknown, where = 'submit: options'): void {
    const { outcomes } = this.#host;
    if (webhook === undefined || outcomes?.names.some((name) => name === webhook)) return;
    const known = outcomes ? `one of ${outcomes.names.join(', ')}` : 'name receivers in the outcomes of the host';
    throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', `${where}.webhook: ${known}`);
  }

  /** What was written down, and nobody was woken for. */
  async #findDue(): Promise<void> {
    await Promise.all([this.schedules.findUnheard(), this.outcomes?.findUnheard()]);
  }

  /** The same, all of it, as after a start. */
  async wakeAll(): Promise<void> {
    await this.schedules.armAll();
    await this.outcomes?.wakeAll();
  }

  /** Somebody looks at the session: this host, or whoever serves its dispatcher. */
  async wake(place: SessionPlace, options: { priority?: number } = {}): Promise<void> {
    if (this.given) return this.given.wake(place, options);
    // It stands in the store: who comes next looks for it.
    if (this.#isClosed) return;
    const own = this.#ownServed();
    await own.wake(place, options);
    if (this.#quiet) return;
    this.#quiet = own.quiet().finally(() => {
      this.#quiet = undefined;
    });
    this.#host.during(this.#quiet);
  }

  /**
   * Goes on with a session where that needs nobody's answer. One that somebody runs is left to them: they have seen what
   * it was woken for, or see it before they let go of it.
   */
  async look(place: SessionPlace): Promise<void> {
    if (place.agent === SCHEDULES) return this.schedules.look(place);
    if (place.agent === OUTCOMES) return this.outcomes ? this.outcomes.look(place) : this.#leave(place);
    const goOn = async (session: HostedSession) => {
      if (session.liveRun || !(await isUnfinished(session))) return false;
      try {
        await resume(session);
        this.#held.over(place);
      } catch (error) {
        if (!isCoxswainError(error)) throw error;
        if (error.code === 'E_AGENT_CHANGED') await this.#hold(place, error);
        else if (!others.has(error.code)) throw error;
      }
      return true;
    };
    let hasWork: boolean | undefined;
    try {
      hasWork = await lookInto(this.#host, place, goOn, true);
    } catch (error) {
      // Who has brought it brings it to another program; what this one has woken itself for stands in the store.
      if (this.given || !this.#isClosed || !isLeft(error)) throw error;
      return;
    }
    if (hasWork === false) {
      await this.#host.releaseDead(place);
      // Whoever has ended it may have died before they said so.
      await this.outcomes?.rested(place);
    }
    // A program may end with its looks.
    await this.outcomes?.settled();
  }

  /** For what the host looks at by itself. What is due is not put off: whoever serves may look for that less often. */
  async #wakeAt(place: SessionPlace, at: Date): Promise<void> {
    // It is noted: who comes next looks for it.
    if (this.#isClosed && !this.given) return;
    const dispatcher = this.given ?? this.#ownServed();
    await (at.getTime() <= Date.now() ? dispatcher.wake(place) : dispatcher.schedule(place, at));
  }

  /** For a program that has receivers of outcomes: this one, which has none, has taken its wake. */
  async #leave(place: SessionPlace): Promise<void> {
    const ms = this.#left.next(place).getTime() - Date.now();
    if (!this.#hasLeft) {
      this.#host.warn('outcomes are owed to webhooks, and this program names none: they are left to one that does');
    }
    this.#hasLeft = true;
    if (ms <= MOST_LEFT_MS) await this.given?.schedule(place, new Date(Date.now() + ms));
  }

  /** For a program of the version that it was begun by: this one has taken its wake. */
  async #hold(place: SessionPlace, error: CoxswainError): Promise<void> {
    if (this.#held.isNew(place)) this.#host.warn(`session ${place.sessionId} is held: ${error.message}`);
    await this.given?.schedule(place, this.#held.next(place));
    // Of a program that has died at it: else each look for the dead of each node would take it for one that is to be taken over.
    await this.#host.releaseDead(place);
  }

  /** Serves the dispatcher, and finds what nobody was woken for, until it is stopped. */
  async work(options: WorkOptions): Promise<Work> {
    const worker = new HostWork(
      {
        ...this.#host,
        look: (place) => this.look(place),
        findDue: () => this.#findDue(),
        givenUp: () => this.outcomes?.givenUpCount ?? 0,
        settled: async () => this.outcomes?.settled(),
      },
      this.given ?? this.#ownServed(),
      options,
    );
    await worker.begin();
    this.#workers.add(worker);
    return worker;
  }

  /** Somebody may have to look at the session then: a question expires. */
  async lookAt(place: SessionPlace, time: Date): Promise<void> {
    if (!this.given) return;
    try {
      await this.given.schedule(place, time);
    } catch (error) {
      this.#host.warn(`the expiry of a question of session ${place.sessionId} could not be scheduled`, error);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const worker of this.#workers) await worker.end();
    this.#workers.clear();
    await this.#own?.close();
    this.#own = undefined;
    await this.outcomes?.close();
  }

  /** One process needs nobody to serve it: its own looks begin with the first wake. */
  #ownServed(): ProcessDispatcher {
    if (this.#own) return this.#own;
    const own = new ProcessDispatcher(this.#host.warn);
    void own.serve((place) => this.look(place), { concurrency: OWN_CONCURRENCY });
    this.#own = own;
    return own;
  }

  async #finish(session: HostedSession, place: SessionPlace, rest: Promise<void>): Promise<void> {
    try {
      await rest;
    } catch (error) {
      this.#host.warn(`the turn of session ${session.id} has failed`, error);
    } finally {
      await session[Symbol.asyncDispose]();
      await this.outcomes?.rested(place);
    }
  }
}

/** What happened since the turn was begun, and whether it waits for a person by now. */
async function standingTurn(
  session: HostedSession,
  after: string | undefined,
  look: (event: AgentEvent) => void,
): Promise<StandingTurn> {
  await eachSince(session, after, look);
  if (session.liveRun || (await isUnfinished(session))) return {};
  const open = await session.pending();
  const at = open
    .map(({ requestedAt }) => requestedAt)
    .sort()
    .at(-1);
  return at === undefined ? {} : { waits: { requestIds: open.map(({ requestId }) => requestId).sort(), at } };
}

/** A session that was made again may have fewer events than the one of the cursor had: of that, all are shown. */
async function eachSince(
  session: HostedSession,
  after: string | undefined,
  look: (event: AgentEvent) => void,
): Promise<void> {
  try {
    for await (const event of session.events(after === undefined ? {} : { after })) look(event);
  } catch (error) {
    if (after === undefined || !isCoxswainError(error) || error.code !== 'E_BAD_INPUT') throw error;
    for await (const event of session.events()) look(event);
  }
}

/** Somebody else goes on with it, or it is over. */
const others: ReadonlySet<string> = new Set(['E_SESSION_BUSY', 'E_TURN_COMPLETED', 'E_SESSION_CLOSED']);

function notStored(): CoxswainError {
  const message = 'submit: options.ephemeral: a turn that nobody holds needs a session that is stored';
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
}
