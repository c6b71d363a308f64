import { fromAgent } from '../../../src/adapters/adk/index.ts';
import type { AnyTool, RequestAnswer } from '../../../src/contracts/index.ts';
import type { HostedSession } from '../../../src/host/hosted/index.ts';
import type { AgentHost, HostOptions } from '../../../src/host/index.ts';
import { createHost, subagentTool } from '../../../src/host/index.ts';
import type { Agent } from '../../../src/runtime/index.ts';
import { agentTool, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent } from '../../../src/runtime/index.ts';
import { whole } from '../../host/kit.ts';
import { pause } from '../replay/random.ts';
import { answerTo } from './answers.ts';
import { randomModel } from './model.ts';
import { hostHooks, policy } from './policy.ts';
import type { Store } from './store.ts';
import { Access, key, never } from './store.ts';
import { toolsOf } from './tools.ts';
import type { MakeLlm } from './tree.ts';
import { drawTree } from './tree.ts';
import type { World } from './world.ts';

/** What a seed decides once, for all processes. */
export interface Setting {
  shape: 'one' | 'transfer' | 'parallel' | 'expert' | 'sequence' | 'subagent' | 'subagents' | 'subagents in a tree';
  /** What trees are drawn from: the same in all processes. */
  tree: number;
  hooks: boolean;
  onApproval: 'none' | 'answers' | 'never' | 'sometimes';
  onElicitation: 'none' | 'answers' | 'never' | 'sometimes';
  limits: HostOptions['limits'];
  toolConcurrency: number | undefined;
  interactive: boolean;
  /** Processes die; those that do leave their timers behind. */
  mortal: boolean;
  /** Appends that a process lives for at most. */
  lifetime: number;
  /** Turns of the event loop between a process and the store, at most. */
  distance: number;
}

/** One process: a host over the store, until it dies. */
export class Process {
  readonly access: Access;
  readonly host: AgentHost;
  readonly number: number;
  readonly handles: HostedSession[] = [];
  readonly #world: World;

  constructor(world: World, store: Store, setting: Setting, left: number) {
    this.#world = world;
    this.number = ++world.life;
    this.access = new Access(store, left, world.chance(0.5), world.random, setting.distance);
    const { limits, toolConcurrency, interactive } = setting;
    this.host = createHost({
      app: key.app,
      userId: key.userId,
      agents: [
        fromAgent(grow(world, this.access, setting), { warn: (message, error) => this.#warned(message, error) }),
      ],
      tools: [...toolsOf(world, this.access, ''), ...this.#subagents(setting)],
      store: this.access,
      policy,
      interactive,
      ...(setting.mortal ? { toolTimeoutMs: 0, policyTimeoutMs: 0 } : {}),
      warn: (message, error) => this.#warned(message, error),
      ...(setting.hooks ? { hooks: hostHooks } : {}),
      ...(limits ? { limits, prices: { m: { input: 1, output: 1 } } } : {}),
      ...(toolConcurrency === undefined ? {} : { toolConcurrency }),
      ...this.#handlers(setting),
    });
  }

  get isDead(): boolean {
    return this.access.isDead;
  }

  async open(): Promise<HostedSession> {
    const handle = whole(await this.host.open('root', { sessionId: key.id, create: true }));
    this.handles.push(handle);
    return handle;
  }

  #subagents({ shape, tree }: Setting): AnyTool[] {
    if (!shape.startsWith('subagent')) return [];
    const agent =
      shape === 'subagents in a tree'
        ? drawTree(tree + 1, 'helper', partsOf(this.#world, this.access, 3))
        : partsOf(this.#world, this.access, 8)('helper');
    const source = fromAgent(agent, { warn: (message, error) => this.#warned(message, error) });
    return [subagentTool(source, { maxDepth: 2 })];
  }

  #handlers({ onApproval, onElicitation }: Setting): Partial<HostOptions> {
    const handler = (kind: Setting['onApproval']) => async (request: Parameters<typeof answerTo>[1]) => {
      this.#world.seenIds.push(request.requestId);
      await pause(this.#world.random);
      if (this.isDead || kind === 'never') return never();
      if (kind === 'sometimes') {
        const roll = this.#world.random();
        if (roll < 0.3) return undefined;
        if (roll < 0.5) return never();
        if (roll < 0.55) throw new Error('the person is out');
      }
      return answerTo(this.#world, request) as RequestAnswer;
    };
    return {
      ...(onApproval === 'none' ? {} : { onApproval: handler(onApproval) }),
      ...(onElicitation === 'none' ? {} : { onElicitation: handler(onElicitation) }),
    };
  }

  #warned(message: string, error: unknown): void {
    if (this.isDead) return;
    const { code } = (error ?? {}) as { code?: string };
    this.#world.note(() => `  warned ${message} ${String(error)}`);
    // One of this world's own.
    if (error instanceof Error && error.message === 'the hook is down') return;
    if (message.startsWith('the answer to') && (code === undefined || expected.has(code))) return;
    this.#world.fault(`warned: ${message} ${String(error)}`);
  }
}

const expected = new Set(['E_WRONG_ANSWER', 'E_NOT_APPROVER', 'E_PREVIEW_CHANGED', 'E_REQUEST_CLOSED']);

function partsOf(world: World, access: Access, maxIterations: number): MakeLlm {
  const model = randomModel(world, access);
  const tools = toolsOf(world, access, 'a_');
  return (name, { tools: more = [], ...options } = {}) =>
    new LlmAgent({ name, model, tools: [...tools, ...more], maxIterations, ...options });
}

function grow(world: World, access: Access, { shape, tree }: Setting): Agent {
  const llm = partsOf(world, access, 8);
  switch (shape) {
    case 'transfer':
      return llm('root', { subAgents: [llm('left'), llm('right')] });
    case 'parallel':
      return new ParallelAgent({ name: 'root', subAgents: [llm('left'), llm('right')] });
    case 'subagents in a tree':
      return drawTree(tree, 'root', partsOf(world, access, 3));
    case 'subagents':
      return new LoopAgent({
        name: 'root',
        maxIterations: 2,
        subAgents: [new ParallelAgent({ name: 'both', subAgents: [llm('left'), llm('right')] })],
      });
    case 'sequence':
      return new SequentialAgent({ name: 'root', subAgents: [llm('left'), llm('right')] });
    case 'expert':
      return llm('root', { tools: [agentTool(llm('expert'))] });
    default:
      return llm('root');
  }
}
