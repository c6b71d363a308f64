import type { AnyAgentTool } from '../../../src/contracts/index.ts';
import type {
  Agent,
  CompositeOptions,
  CustomContext,
  LlmAgentOptions,
  RequestProcessor,
  StoredEvent,
} from '../../../src/runtime/index.ts';
import {
  agentTool,
  CustomAgent,
  defaultProcessors,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
} from '../../../src/runtime/index.ts';
import { modelOf } from './model.ts';
import type { Random } from './random.ts';
import { below, hash, randomOf } from './random.ts';
import { toolsOf } from './tools.ts';
import type { World } from './world.ts';

/** What trees are made of; a mutant puts a broken part in the place of a good one. */
export interface Parts {
  llm(options: LlmAgentOptions): Agent;
  sequential(options: CompositeOptions): Agent;
}

export const soundParts: Parts = {
  llm: (options) => new LlmAgent(options),
  sequential: (options) => new SequentialAgent(options),
};

/** Ordinals of a custom agent's children that run side by side; group after group. */
export const customGroups = new WeakMap<Agent, readonly (readonly number[])[]>();

const DEPTH = 3;
const callIds = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** An activation's path with names in the place of call ids: the same in every process. */
export function placeName(path: string, keyOfCall: (callId: string) => unknown): string {
  return path.replace(callIds, (id) => `@${hash(String(keyOfCall(id))).toString(36)}`);
}

/** A sub-agent's session is named by the call that its first message is made of. */
export function sessionName([first]: readonly StoredEvent[]): string {
  const part = first?.content?.parts[0];
  const k = part?.type === 'text' ? /"k":"([^"]*)"/.exec(part.text)?.[1] : undefined;
  return k === undefined ? '' : `@${hash(k).toString(36)}!`;
}

/** Tells the model where it is asked: nothing else decides what it says. */
const position: RequestProcessor = {
  name: 'Position',
  process({ context, agent }, draft) {
    const { fold, session } = context.invocation;
    const place = sessionName(session.log) + placeName(context.path, (id) => fold.calls.get(id)?.args.k);
    draft.config.step = context.activation.steps;
    draft.config.key = `${place}:${agent.name}|${context.activation.steps}`;
  },
};

export interface Trees {
  root: Agent;
  /** An agent with a session of its own, which the host's agents and itself may call. */
  helper?: { name: string; agent: Agent };
}

/** The trees of a seed, made anew for each process. */
export function grow(seed: number, world: World, parts: Parts, isHosted: boolean): Trees {
  if (!isHosted) return { root: new Grower(seed, world, parts).node(DEPTH) };
  const random = randomOf(seed + 1);
  const shape = new Grower(seed + 1, world, parts).node(1);
  const name = `${random() < 0.3 ? 'ask_' : ''}${isCrowd(shape) ? 'crowd' : 'helper'}`;
  const agent = new Grower(seed + 1, world, parts, name).node(1);
  return { root: new Grower(seed, world, parts, name).node(DEPTH - 1), helper: { name, agent } };
}

class Grower {
  readonly #seed: number;
  readonly #random: Random;
  readonly #world: World;
  readonly #parts: Parts;
  readonly #tools: AnyAgentTool[];
  readonly #helper: string | undefined;
  #made = 0;

  constructor(seed: number, world: World, parts: Parts, helper?: string) {
    this.#seed = seed;
    this.#random = randomOf(seed);
    this.#world = world;
    this.#parts = parts;
    this.#tools = toolsOf(world);
    this.#helper = helper;
  }

  node(depth: number): Agent {
    const roll = this.#random();
    if (depth === 0 || roll < 0.25) return this.#llm(depth);
    const name = `c${this.#made++}`;
    const subAgents = Array.from({ length: 1 + below(this.#random, 3) }, () => this.node(depth - 1));
    const options = { name, subAgents, ...this.#hooks(name) };
    if (roll < 0.45) return this.#parts.sequential(options);
    if (roll < 0.65) return new ParallelAgent(options);
    if (roll < 0.8) return new LoopAgent({ ...options, maxIterations: 1 + below(this.#random, 2) });
    return this.#custom(options);
  }

  #llm(depth: number): Agent {
    const random = this.#random;
    const name = `a${this.#made++}`;
    const experts: AnyAgentTool[] = [];
    if (depth > 0 && random() < 0.45) {
      const expert = this.node(depth - 1);
      const kind = isCrowd(expert) ? 'crowd' : 'expert';
      experts.push(agentTool(expert, { name: `${random() < 0.3 ? 'ask_' : ''}${kind}${this.#made++}` }));
      // One expert may serve as two tools.
      if (random() < 0.2) experts.push(agentTool(expert, { name: `${kind}${this.#made++}` }));
    }
    const subAgents = depth > 0 && random() < 0.3 ? [random() < 0.6 ? this.#llm(0) : this.node(depth - 1)] : [];
    return this.#parts.llm({
      name,
      model: modelOf(this.#world, {
        seed: this.#seed,
        steps: 1 + below(random, 2),
        experts: [...experts.map((tool) => tool.name), ...(this.#helper === undefined ? [] : [this.#helper])],
      }),
      tools: [...this.#tools, ...experts],
      subAgents,
      outputKey: `o_${name}`,
      processors: [...defaultProcessors, position],
      ...this.#hooks(name),
    });
  }

  #hooks(name: string): Pick<LlmAgentOptions, 'beforeAgent' | 'afterAgent'> {
    const random = this.#random;
    const before = random();
    const after = random();
    const say = (text: string) => ({ role: 'model' as const, parts: [{ type: 'text' as const, text }] });
    return {
      ...(before < 0.1 && {
        beforeAgent: ({ state }) => {
          state.set(`b_${name}`, 1);
          return before < 0.03 ? say(`instead of ${name}`) : undefined;
        },
      }),
      ...(after < 0.1 && {
        afterAgent: ({ state }) => {
          state.set(`f_${name}`, 1);
          return after < 0.05 ? say(`after ${name}`) : undefined;
        },
      }),
    };
  }

  #custom(options: CompositeOptions): Agent {
    const random = this.#random;
    const world = this.#world;
    const actions: ((context: CustomContext) => Promise<void>)[] = [];
    const groups: number[][] = [];
    let ordinal = 0;
    const rest = [...options.subAgents];
    while (rest.length > 0) {
      const group = rest.splice(0, random() < 0.3 ? 2 : 1);
      groups.push(group.map(() => ordinal++));
      const catches = random() < 0.2;
      actions.push(async (context) => {
        const runs = Promise.all(group.map((child) => context.run(child)));
        // A sentinel that is caught does not carry on.
        await (catches ? runs.catch(() => {}) : runs);
      });
      if (random() < 0.5) actions.push(stepAction(`${options.name}.${actions.length}`, world));
      if (random() < 0.5) actions.push((context) => context.emit(`${options.name} goes on`));
      if (random() < 0.5) actions.push(async ({ state }) => state.set(`c_${options.name}`, rest.length));
    }
    const escalates = random() < 0.1;
    const agent = new CustomAgent({
      ...options,
      async run(context) {
        for (const action of actions) await action(context);
        if (escalates) context.escalate();
      },
    });
    customGroups.set(agent, groups);
    return agent;
  }
}

/** Whose last words are is a matter of time: agents run side by side. */
function isCrowd(agent: Agent): boolean {
  if (agent instanceof ParallelAgent && agent.subAgents.length > 1) return true;
  return customGroups.get(agent)?.some((group) => group.length > 1) || agent.subAgents.some(isCrowd);
}

/** A step whose value is another at each run: what is emitted of it must be what was stored. */
function stepAction(name: string, world: World): (context: CustomContext) => Promise<void> {
  return async (context) => {
    const value = await context.step(name, () => {
      world.steps.push(name);
      return `v${world.steps.length}`;
    });
    await context.emit(`step ${name} gave ${value}`);
  };
}
