import { getEventListeners } from 'node:events';
import { AdkSession } from '../../../src/adapters/adk/index.ts';
import type { AgentEvent, ExecutionOptions, ReportedRequest, SessionInput } from '../../../src/contracts/index.ts';
import { isCoxswainError } from '../../../src/contracts/index.ts';
import type { HostedSession } from '../../../src/host/hosted/index.ts';
import { LiveSession } from '../../../src/runtime/index.ts';
import { below, pause, randomOf } from '../replay/random.ts';
import { answerTo, inputTo } from './answers.ts';
import { judge } from './judge.ts';
import { people } from './policy.ts';
import type { Setting } from './process.ts';
import { Process } from './process.ts';
import { key, Store } from './store.ts';
import type { Shown } from './watch.ts';
import { streamFaults, Watcher } from './watch.ts';
import { World } from './world.ts';

export interface Tally {
  seeds: number;
  cases: number;
  streams: number;
  deaths: number;
  runs: number;
  events: number;
}

const PATIENCE = 300;

/** What may be said to whoever asks for something that cannot be. */
const refusals = new Set([
  'E_BAD_INPUT',
  'E_INPUT_REQUIRED',
  'E_NOT_APPROVER',
  'E_NO_PRICE',
  'E_NO_TURN',
  'E_PREVIEW_CHANGED',
  'E_REQUEST_CLOSED',
  'E_SESSION_BUSY',
  'E_SESSION_CLOSED',
  'E_TURN_COMPLETED',
  'E_UNKNOWN_REQUEST',
  'E_WRONG_ANSWER',
]);

/** A session's life under random traffic. */
export class Life {
  readonly world: World;
  readonly streams: Shown[] = [];
  readonly tally: Tally;
  readonly #setting: Setting;
  readonly #store: Store;
  #process: Process;
  #handle!: HostedSession;
  /** Handles whose first stream has been seen; undefined as a value: somebody else may have been first. */
  readonly #initialized = new WeakMap<HostedSession, boolean | undefined>();
  readonly #background = new Set<Promise<void>>();
  /** What those who followed the log were shown. */
  readonly #followed: AgentEvent[][] = [];

  constructor(seed: number, tally: Tally, tracing = false) {
    this.world = new World(randomOf(seed), tracing);
    this.tally = tally;
    this.#setting = settingOf(this.world);
    this.world.hooks = this.#setting.hooks;
    this.world.note(() => JSON.stringify(this.#setting));
    this.#store = new Store(this.world);
    this.#process = this.#spawn();
  }

  async live(): Promise<void> {
    const { world } = this;
    const timers = timersNow();
    const steps = 3 + below(world.random, 8);
    for (let step = 0; step < steps && world.faults.length === 0; step++) await this.#survive(() => this.#act());
    for (let tries = 0; world.faults.length === 0; tries++) {
      if (tries > 30) world.fault('the session does not come to rest');
      if (await this.#survive(() => this.#settle())) break;
    }
    if (world.faults.length > 0) return;
    await this.#survive(() => this.#final());
    if (!this.#setting.mortal && timersNow() > timers) world.fault('a timer is left after the end');
    this.tally.cases++;
    this.tally.streams += this.streams.length;
    this.tally.deaths += world.life - 1;
    this.tally.runs += world.runs.length;
    this.tally.events += world.log.length;
  }

  /** Turns of the event loop until what has been begun is ended; after ten times as many it hangs. */
  get #patience(): number {
    return PATIENCE * (1 + this.#setting.distance);
  }

  #spawn(): Process {
    const { mortal, lifetime } = this.#setting;
    // A life that lasts too short may never end.
    const dies = mortal && this.world.life < 20 && this.world.chance(0.7);
    const left = dies ? 1 + below(this.world.random, lifetime) : Number.POSITIVE_INFINITY;
    this.world.note(() => `--- process ${this.world.life + 1}, ${left} appends`);
    return new Process(this.world, this.#store, this.#setting, left);
  }

  /** Does something in the present process, or in a new one if that is dead; undefined if it died of it. */
  async #survive<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.#process.isDead) {
      this.#background.clear();
      this.world.gates.length = 0;
      this.#process = this.#spawn();
    }
    const { access } = this.#process;
    const living = async () => {
      if (!this.#process.handles.includes(this.#handle)) this.#handle = await this.#process.open();
      return work();
    };
    return Promise.race([living(), access.died.then(() => undefined)]);
  }

  // ----- Between streams

  async #act(): Promise<void> {
    const { world } = this;
    if (world.chance(0.08)) this.#handle = await this.#process.open();
    if (world.chance(0.75)) return this.#stream(this.#handle, await this.#input(), this.#options());
    await this.#disturb(this.#handle);
    await this.#quiet();
  }

  async #input(): Promise<string | SessionInput | SessionInput[]> {
    const { world } = this;
    const open = await this.#look();
    const message: SessionInput = { kind: 'message', content: `hello ${world.name()}` };
    if (open.length === 0) return world.chance(0.85) ? message : { kind: 'continue' };
    const roll = world.random();
    if (roll < 0.5) {
      const chosen = world.chance(0.5) ? open : [world.pick(open)].filter((request) => request !== undefined);
      const answers = chosen.map((request) => inputTo(world, request));
      if (world.chance(0.15)) answers.push(message);
      return answers;
    }
    if (roll < 0.7) return { kind: 'continue' };
    if (roll < 0.95) return message;
    return { kind: 'tool_approval', requestId: world.pick(world.seenIds) ?? 'nobody' };
  }

  #options(): ExecutionOptions {
    const { world } = this;
    return {
      ...(world.chance(0.3) ? { streaming: false } : {}),
      ...(world.chance(0.4) ? { whilePending: world.pick(['cancel', 'hold', 'proceed'] as const) ?? 'cancel' } : {}),
      ...(world.chance(0.05) ? { limits: { steps: 2 } } : {}),
    };
  }

  /** Pending requests; what is shown there may be answered. */
  async #look(handle = this.#handle): Promise<ReportedRequest[]> {
    const open = await handle.pending();
    for (const { requestId } of open) {
      this.world.seenIds.push(requestId);
      if (/#(?:policy|rerun|confirm)/.test(requestId)) this.world.questions.add(requestId);
    }
    return open;
  }

  // ----- One stream

  async #stream(
    handle: HostedSession,
    input: string | SessionInput | SessionInput[],
    options: ExecutionOptions,
    calm = false,
  ): Promise<void> {
    const { world } = this;
    const controller = new AbortController();
    const stream = handle.stream(input, { ...options, signal: controller.signal });
    world.note(() => `stream ${stream.streamId.slice(0, 8)} ${JSON.stringify(input)} ${JSON.stringify(options)}`);
    const before = this.#initialized.has(handle) ? this.#initialized.get(handle) : false;
    const watcher = new Watcher(world, stream.streamId, before);
    const leavesAfter = !calm && world.chance(0.08) ? below(world.random, 20) : Number.POSITIVE_INFINITY;
    const running = { over: false };
    const ticking = this.#tick(handle, stream, controller, running, calm);
    const isSlow = world.chance(0.2);
    let count = 0;
    try {
      for (;;) {
        const { value, done } = await stream.next();
        if (done) break;
        watcher.see(value as AgentEvent);
        count++;
        if (count >= leavesAfter) {
          world.note(() => 'leaves');
          await stream.return?.();
          break;
        }
        if (isSlow) await pause(world.random);
      }
      if (count < leavesAfter) watcher.finish();
    } catch (error) {
      this.#refused('stream', error, count);
    } finally {
      running.over = true;
      if (count > 0) this.#initialized.set(handle, true);
      if (count > 0) this.streams.push(watcher.shown);
    }
    await ticking;
    await this.#quiet();
    const listeners = getEventListeners(controller.signal, 'abort').length;
    if (listeners > 0) world.fault(`a stream leaves ${listeners} listeners on its signal`);
  }

  /** What happens while a stream runs. */
  async #tick(
    handle: HostedSession,
    stream: ReturnType<HostedSession['stream']>,
    controller: AbortController,
    running: { over: boolean },
    calm: boolean,
  ): Promise<void> {
    const { world } = this;
    const process = this.#process;
    for (let tick = 0; !running.over && !process.isDead; tick++) {
      await immediate();
      if (running.over || process.isDead) return;
      if (world.chance(0.15)) world.openGate();
      if (!calm && world.chance(0.06)) this.#later(() => this.#disturb(handle, stream, controller));
      if (tick === this.#patience) {
        world.note(() => 'patience is over');
        world.openGates();
        this.#later(() => handle.abort({ reason: 'patience is over' }));
      }
      if (tick === 10 * this.#patience) {
        world.fault('the stream does not end');
        process.access.kill();
      }
    }
  }

  #later(work: () => Promise<void>): void {
    const process = this.#process;
    const done: Promise<void> = work().then(
      () => void this.#background.delete(done),
      (error: unknown) => {
        this.#background.delete(done);
        if (!process.isDead) this.#refused('background', error, 0);
      },
    );
    this.#background.add(done);
  }

  /** Waits for what was begun. */
  async #quiet(): Promise<void> {
    const { world } = this;
    const process = this.#process;
    for (let tick = 0; this.#background.size > 0 || process.handles.some((handle) => handle.running); tick++) {
      await immediate();
      if (process.isDead) return;
      if (world.chance(0.2)) world.openGate();
      if (tick === this.#patience) {
        world.openGates();
        for (const handle of process.handles) this.#later(() => handle.abort({ reason: 'quiet' }));
      }
      if (tick > 10 * this.#patience) return world.fault('what was begun does not end');
    }
  }

  /** Does one thing that somebody might do at any time. */
  async #disturb(
    handle: HostedSession,
    stream?: ReturnType<HostedSession['stream']>,
    controller?: AbortController,
  ): Promise<void> {
    const { world } = this;
    const roll = world.random();
    try {
      if (roll < 0.3) return await this.#answerOne(handle);
      if (roll < 0.4) return await this.#answerAgain(handle);
      if (roll < 0.48) return await this.#decide();
      if (roll < 0.56) {
        world.note(() => 'steers');
        await handle.steer({ content: `steer ${world.name()}` });
      } else if (roll < 0.62) {
        world.note(() => 'updates');
        await handle.update({ title: world.name() });
      } else if (roll < 0.72) {
        const requestId = world.pick(world.seenIds)?.split('#')[0] ?? 'nobody';
        world.note(() => `aborts call ${requestId.slice(0, 8)}`);
        await handle.abort({ requestId });
      } else if (roll < 0.76) {
        world.note(() => 'aborts');
        await (stream && world.chance(0.5) ? stream.abort('by the stream') : handle.abort());
      } else if (roll < 0.78) {
        world.note(() => 'signals');
        controller?.abort();
      } else if (roll < 0.8) await handle.abort({ threadId: world.pick(['left', 'root.left', 'right']) ?? '' });
      else if (roll < 0.88) await this.#second(handle);
      else if (roll < 0.91) {
        if (this.#setting.mortal) this.#process.access.kill();
      } else if (roll < 0.95) await this.#other();
      else if (roll < 0.97) await this.#follow(handle);
      else await this.#look(handle);
    } catch (error) {
      this.#refused('disturbance', error, 0);
    }
  }

  async #answerOne(handle: HostedSession): Promise<void> {
    const request = this.world.pick(await this.#look(handle));
    if (!request) return;
    const answer = answerTo(this.world, request);
    this.world.note(() => `responds ${request.requestId} ${JSON.stringify(answer)}`);
    await handle.respond(request.requestId, answer);
    if (this.world.chance(0.2)) await handle.respond(request.requestId, answer);
  }

  async #answerAgain(handle: HostedSession): Promise<void> {
    const { world } = this;
    const id = world.pick(world.seenIds) ?? 'nobody';
    const requestId = world.pick([id, id, `${id}#policy`, `${id.split('#')[0]}#policy.1`, `${id}#0`, 'nobody']) ?? id;
    const answer = world.chance(0.5)
      ? ({ kind: 'approve', by: world.pick(people) ?? { id: 'u' } } as const)
      : ({ kind: 'elicitation', action: world.pick(['accept', 'decline', 'cancel'] as const) ?? 'cancel' } as const);
    world.note(() => `responds again ${requestId} ${JSON.stringify(answer)}`);
    await handle.respond(requestId, answer);
  }

  async #decide(): Promise<void> {
    const { world } = this;
    const { approvals } = this.#process.host;
    const request = world.pick(await approvals.list())?.request;
    if (!request) return;
    world.questions.add(request.requestId);
    for (const handle of this.#process.handles) this.#initialized.set(handle, undefined);
    world.note(() => `decides ${request.requestId}`);
    await approvals.decide(request.requestId, answerTo(world, request), { by: world.pick(people) ?? { id: 'u' } });
  }

  /** Another stream of the session: refused while one runs. */
  async #second(handle: HostedSession): Promise<void> {
    const other = this.world.chance(0.5) ? handle : await this.#process.open();
    const isBusy = this.#process.handles.some((known) => known.running);
    if (!isBusy) return;
    this.world.note(() => 'a second stream');
    const { value } = await other.stream('me too').next();
    // Where the first was refused meanwhile, this one has run, and has shown what a handle shows once.
    if (value) this.#initialized.set(other, true);
    const stillBusy = this.#process.handles.filter((known) => known !== other).some((known) => known.running);
    if (stillBusy) this.world.fault(`a second stream shows ${value?.type}`);
    await other.abort();
  }

  /** Reads the log from its start and what comes next, for a while. */
  async #follow(handle: HostedSession): Promise<void> {
    const seen: AgentEvent[] = [];
    this.#followed.push(seen);
    const events = handle.events({ live: true })[Symbol.asyncIterator]();
    let isOver = false;
    const reading = async () => {
      for (let step = await events.next(); !step.done && !isOver; step = await events.next()) seen.push(step.value);
    };
    const done = reading();
    for (let tick = 10 + below(this.world.random, 40); tick > 0; tick--) await immediate();
    isOver = true;
    await events.return?.();
    await done;
  }

  /** Another process looks in and answers. */
  async #other(): Promise<void> {
    const { world } = this;
    const mine = this.#process;
    const other = new Process(world, this.#store, this.#setting, Number.POSITIVE_INFINITY);
    world.life = mine.number;
    const handle = await other.open();
    // It cannot know what the other one asks at this moment.
    if (!mine.handles.some((known) => known.running)) await this.#answerOne(handle);
    else await handle.pending();
    await handle[Symbol.asyncDispose]();
  }

  /** A refusal is an answer too; anything else is a fault. `shown`: events before it. */
  #refused(what: string, error: unknown, shown: number): void {
    if (this.#process.isDead) return;
    const code = isCoxswainError(error) ? error.code : undefined;
    this.world.note(() => `${what} refused: ${String(error)}`);
    if (shown > 0) this.world.fault(`a stream threw after ${shown} events: ${textOf(error)}`);
    else if (code === undefined || !refusals.has(code)) this.world.fault(`${what} failed: ${textOf(error)}`);
  }

  // ----- At the end

  /** Answers what is open; true when nothing is. */
  async #settle(): Promise<boolean> {
    const { world } = this;
    world.openGates();
    const open = await this.#look();
    if (open.length === 0) return true;
    if (world.chance(0.2)) {
      await this.#handle.abort();
      return false;
    }
    const answers = open
      .filter(({ kind, name }) => kind !== 'tool' || name?.endsWith('client'))
      .map((request) => inputTo(world, request));
    await this.#stream(this.#handle, answers.length > 0 ? answers : { kind: 'continue' }, {}, true);
    if (world.chance(0.1)) await this.#stream(this.#handle, 'go on', {}, true);
    return false;
  }

  async #final(): Promise<void> {
    const { world } = this;
    await this.#handle.abort();
    if ((await this.#handle.pending()).length > 0) world.fault('something is pending after the end');
    if ((await this.#process.host.approvals.list()).length > 0) world.fault('an approval is open after the end');
    if ((await this.#store.openCalls({ app: key.app })).length > 0) world.fault('a call is open after the end');
    const events: AgentEvent[] = [];
    for await (const event of this.#handle.events()) events.push(event);
    world.faults.push(...streamFaults(this.streams, events), ...judge(world));
    for (const seen of this.#followed) {
      const at = seen.findIndex((event, index) => event.id !== events[index]?.id);
      if (at >= 0) world.fault(`whoever follows is shown ${seen[at]?.id} where the log has ${events[at]?.id}`);
    }
    await this.#process.host.close();
    await immediate();
    if (this.#process.access.leases > 0) world.fault('a lease is held after the end');
    const { inner } = this.#handle;
    const listeners = inner instanceof AdkSession ? listenersOf(inner.live) : 0;
    if (listeners > 0) world.fault(`${listeners} listen to the log after the end`);
  }
}

const listening = new WeakMap<LiveSession, number>();
const { listen } = LiveSession.prototype;
LiveSession.prototype.listen = function (listener) {
  const count = (change: number) => listening.set(this, listenersOf(this) + change);
  const stop = listen.call(this, listener);
  count(1);
  let stopped = false;
  return () => {
    if (!stopped) count(-1);
    stopped = true;
    stop();
  };
};

function listenersOf(live: LiveSession): number {
  return listening.get(live) ?? 0;
}

function settingOf(world: World): Setting {
  const kinds = ['none', 'answers', 'never', 'sometimes'] as const;
  return {
    shape:
      world.pick([
        'one',
        'one',
        'transfer',
        'parallel',
        'expert',
        'sequence',
        'subagent',
        'subagents',
        'subagents in a tree',
      ] as const) ?? 'one',
    tree: Math.floor(world.random() * 2 ** 31),
    hooks: world.chance(0.4),
    onApproval: world.pick(kinds) ?? 'none',
    onElicitation: world.pick(kinds) ?? 'none',
    limits: world.chance(0.1) ? { usd: 0.0001, minutes: 5 } : undefined,
    toolConcurrency: world.chance(0.2) ? 1 : undefined,
    interactive: world.chance(0.95),
    mortal: world.chance(0.6),
    lifetime: world.chance(0.3) ? 6 : 40,
    distance: world.chance(0.4) ? 1 + below(world.random, 6) : 0,
  };
}

/** What keeps the program alive. */
function timersNow(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
}

function immediate(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
