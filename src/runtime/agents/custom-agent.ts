import { untilAborted } from '../../base/index.ts';
import type { Content, ContentPart, DepsFrom, WithDeps } from '../../contracts/index.ts';
import { CoxswainError, copyJson } from '../../contracts/index.ts';
import type { Agent, AgentContext } from '../agent/index.ts';
import { finishAgent, startAgent } from '../agent/index.ts';
import type { AgentCallbacks } from '../hooks/index.ts';
import { HookChain } from '../hooks/index.ts';
import type { Outcome, StoredEvent } from '../log/index.ts';
import { DONE, isPlainDone, StateView, SUSPENDED } from '../log/index.ts';
import { agentInput } from './agent-shape.ts';
import type { CustomAgentOptions, CustomContext, EmittedActions } from './options.ts';

/** Thrown through user code to end it; not an error. */
class Unwind {
  readonly outcome: Outcome;
  constructor(outcome: Outcome) {
    this.outcome = outcome;
  }
}

/**
 * An agent written as a function. After a pause the function runs again from the top: its k-th `emit`, `run` and
 * `step` are matched with the log and return what they returned before, without effect. What does not go through
 * the context happens again; choices must depend on recorded values alone, else `E_REPLAY_DIVERGED`. Children may run side
 * by side; `emit` and `step` must come in one order each time, whichever child is done first: after all of them.
 */
export class CustomAgent<const Name extends string = string, const Below extends readonly Agent[] = readonly Agent[]>
  implements Agent, WithDeps<DepsFrom<Below[number]>>
{
  declare readonly '~deps'?: (deps: DepsFrom<Below[number]>) => void;
  readonly name: Name;
  readonly description: string;
  readonly subAgents: readonly Agent[];
  readonly recordsOutcome = true;
  readonly #run: CustomAgentOptions['run'];
  readonly #callbacks: AgentCallbacks;

  constructor(options: Omit<CustomAgentOptions, 'name' | 'subAgents'> & { name: Name; subAgents?: Below }) {
    agentInput.custom(options);
    this.name = options.name;
    this.description = options.description ?? '';
    this.subAgents = [...(options.subAgents ?? [])];
    this.#run = options.run;
    this.#callbacks = {
      ...(options.beforeAgent ? { beforeAgent: options.beforeAgent } : {}),
      ...(options.afterAgent ? { afterAgent: options.afterAgent } : {}),
    };
  }

  async run(context: AgentContext): Promise<Outcome> {
    const hooks = new HookChain(context.invocation.engine.plugins, this.#callbacks);
    const ended = await startAgent(context, hooks);
    if (ended) return ended;
    const outcome = await this.#replay(context);
    return outcome.kind === 'done' ? finishAgent(context, hooks, outcome) : outcome;
  }

  async #replay(context: AgentContext): Promise<Outcome> {
    const player = new Player(context);
    const runs: Promise<unknown>[] = [];
    let children = 0;
    let unwound: Unwind | undefined;
    const runChild = async (agent: Agent) => {
      const key = String(children++);
      // The child sees the state that was written before it.
      await player.flush();
      const outcome = await context.run(agent, { key });
      if (isPlainDone(outcome)) return outcome;
      const unwind = new Unwind(outcome);
      if (!unwound || urgency(outcome) > urgency(unwound.outcome)) unwound = unwind;
      throw unwind;
    };
    const goOn = () => {
      if (unwound) throw unwound;
    };
    let thrown: { error: unknown } | undefined;
    try {
      const work = this.#run({
        signal: context.signal,
        state: player.state,
        invocation: context.invocation,
        agentPath: context.agentPath,
        emit: async (what) => {
          goOn();
          return player.emit(what);
        },
        step: async (name, work) => {
          goOn();
          return player.step(name, work);
        },
        escalate: () => player.escalate(),
        run: async (agent) => {
          goOn();
          const run = runChild(agent);
          runs.push(run);
          return run;
        },
      });
      // An abort ends the wait for a function that does not watch its signal; what it still does goes nowhere.
      await untilAborted(work, context.signal);
    } catch (error) {
      thrown = { error };
    }
    // Children run side by side end with this agent, not behind its back.
    while (runs.length > 0) await Promise.allSettled(runs.splice(0));
    // User code may have caught the sentinel: it still does not go on past a suspended child.
    if (unwound) return unwound.outcome;
    if (context.signal.aborted) return SUSPENDED;
    if (thrown) throw thrown.error;
    await player.flush();
    return player.escalated ? { kind: 'done', escalate: true } : DONE;
  }
}

/** Of children that ran side by side: a failure counts more than a wait, and that more than a signal. */
function urgency({ kind }: Outcome): number {
  return kind === 'failed' ? 2 : kind === 'suspended' ? 1 : 0;
}

/** Matches a custom agent's actions with what the log has of it. */
class Player {
  readonly state: StateView;
  readonly #delta: Record<string, unknown> = {};
  readonly #context: AgentContext;
  readonly #recorded: readonly StoredEvent[];
  #next = 0;
  #flushed = Promise.resolve();
  escalated = false;

  constructor(context: AgentContext) {
    this.#context = context;
    this.#recorded = [...context.activation.own];
    this.state = new StateView(this.#delta, () => context.stateLayers());
  }

  escalate(): void {
    this.escalated = true;
  }

  async emit(what: Parameters<CustomContext['emit']>[0]): Promise<void> {
    const { content, actions } =
      typeof what === 'string' || Array.isArray(what) ? { content: asContent(what), actions: undefined } : what;
    checkActions(this.#context.agent.name, actions);
    if (actions?.escalate) this.escalated = true;
    const known = this.#recorded[this.#next];
    if (known) {
      this.#next++;
      if (known.customMetadata?.step !== undefined)
        throw this.#diverged(`step ${String(known.customMetadata.step)}`, 'emit');
      this.#takeDelta();
      return;
    }
    this.#checkAlive();
    const init = { ...(content ? { content } : {}), actions: { ...actions } };
    const copy = copyJson(init, `an event of agent ${this.#context.agent.name}`);
    this.#next++;
    await this.#context.emit({
      // An event without content would not be found again.
      content: { role: 'model', parts: [] },
      ...copy,
      actions: { ...copy.actions, stateDelta: { ...this.#takeDelta(), ...copy.actions.stateDelta } },
    });
  }

  async step<T>(name: string, work: () => T | Promise<T>): Promise<T> {
    const known = this.#recorded[this.#next];
    if (known) {
      this.#next++;
      if (known.customMetadata?.step !== name)
        throw this.#diverged(String(known.customMetadata?.step ?? 'emit'), `step ${name}`);
      this.#takeDelta();
      return known.customMetadata.value as T;
    }
    this.#checkAlive();
    const value = copyJson((await work()) ?? null, `step ${name}`) as T;
    this.#checkAlive();
    this.#next++;
    await this.#context.emit({
      content: { role: 'model', parts: [] },
      customMetadata: { step: name, value },
      actions: { stateDelta: this.#takeDelta() },
    });
    return value;
  }

  /** Commits the state that was written since the last event. */
  flush(): Promise<void> {
    if (Object.keys(this.#delta).length > 0) this.#flushed = this.emit([]);
    return this.#flushed;
  }

  #takeDelta(): Record<string, unknown> {
    const taken = { ...this.#delta };
    for (const key of Object.keys(this.#delta)) delete this.#delta[key];
    return taken;
  }

  #checkAlive(): void {
    if (this.#context.signal.aborted) throw new Unwind(SUSPENDED);
  }

  #diverged(logged: string, found: string): CoxswainError {
    return new CoxswainError(
      'FAILED_PRECONDITION',
      'E_REPLAY_DIVERGED',
      `custom agent ${this.#context.agent.name} did ${found} where the log has ${logged}; abort the turn`,
    );
  }
}

const emitted: ReadonlySet<string> = new Set<keyof EmittedActions>(['stateDelta', 'artifactDelta', 'escalate']);

/** The rest is the runtime's: what it found in the log would not have happened. */
function checkActions(agent: string, actions: object | undefined): void {
  for (const [name, value] of Object.entries(actions ?? {})) {
    if (emitted.has(name) || value === undefined || value === false) continue;
    const instead =
      name === 'transferToAgent' ? 'run the agent with context.run' : `there are ${[...emitted].join(', ')}`;
    const message = `custom agent ${agent} emits an event with actions.${name}, which no agent sets; ${instead}`;
    throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
  }
}

function asContent(what: string | ContentPart[]): Content {
  return { role: 'model', parts: typeof what === 'string' ? [{ type: 'text', text: what }] : what };
}
