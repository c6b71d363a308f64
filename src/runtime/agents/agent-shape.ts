import type { Check, Shape } from '../../base/index.ts';
import {
  amount,
  anything,
  bag,
  checkOptions,
  checkShape,
  count,
  either,
  flag,
  fn,
  having,
  isObject,
  list,
  listOf,
  name,
  names,
  oneOf,
  required,
  text,
} from '../../base/index.ts';
import type { TurnLimits } from '../agent/index.ts';
import { assertAgentName } from '../agent/index.ts';
import type { AgentCallbacks, Plugin } from '../hooks/index.ts';
import type { Services } from '../services/index.ts';
import type { CompactionOptions } from '../step/index.ts';
import type { CompositeOptions, CustomAgentOptions, LlmAgentOptions, LoopOptions } from './options.ts';

const model: Check = {
  needs: 'a model or the name of one',
  fits: (value) => name.fits(value) || (having('generate').fits(value) && name.fits((value as { name: unknown }).name)),
};

const named = (what: string, method: string): Check => ({
  needs: `${what}, with a name and ${method}()`,
  fits: (value) => having(method).fits(value) && name.fits((value as { name: unknown }).name),
});

const callback = either(fn, listOf(fn));
const around = { beforeAgent: callback, afterAgent: callback };
const callbacks: Shape<AgentCallbacks> = {
  ...around,
  beforeModel: callback,
  afterModel: callback,
  beforeTool: callback,
  afterTool: callback,
  onModelError: callback,
  onToolError: callback,
};

// A name has a check and a code of its own; so have schemas, state keys, tools and, in their tree, children.
const common = { name: anything, description: text };
const composite: Shape<CompositeOptions> = { ...common, ...around, subAgents: required(list) };
const loop: Shape<LoopOptions> = { ...composite, maxIterations: anything };
const custom: Shape<CustomAgentOptions> = { ...common, ...around, subAgents: list, run: required(fn) };
const compactionOf: Shape<CompactionOptions> = {
  window: count,
  at: {
    needs: 'a number above 0 and at most 1',
    fits: (value) => typeof value === 'number' && value > 0 && value <= 1,
  },
  keep: count,
  summarise: either(text, fn),
  summariseTimeoutMs: amount,
};
const compaction: Check = {
  needs: 'false, or { window?, at?, keep?, summarise?, summariseTimeoutMs? }',
  fits: (value) => value === false || isObject(value),
};
const llm: Shape<LlmAgentOptions> = {
  ...common,
  ...callbacks,
  model,
  instruction: either(text, fn),
  globalInstruction: either(text, fn),
  tools: list,
  toolsets: listOf(named('a toolset', 'tools')),
  subAgents: list,
  inputSchema: anything,
  outputSchema: anything,
  outputKey: anything,
  includeContents: oneOf('default', 'none'),
  compaction,
  generateContentConfig: bag,
  maxIterations: count,
  disallowTransferToParent: flag,
  disallowTransferToPeers: flag,
  transferTargets: names,
  processors: listOf(named('a request processor', 'process')),
};

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT | E_AGENT_NAME` */
export const agentInput = {
  composite: (options: CompositeOptions): void => of<CompositeOptions>('agent', options, composite),
  loop: (options: LoopOptions): void => of<LoopOptions>('LoopAgent', options, loop),
  custom: (options: CustomAgentOptions): void => of<CustomAgentOptions>('CustomAgent', options, custom),
  llm: (options: LlmAgentOptions): void => {
    of<LlmAgentOptions>('LlmAgent', options, llm);
    if (!options.compaction) return;
    checkOptions<CompactionOptions>(options.compaction, 'LlmAgent: options.compaction', compactionOf);
  },
};

function of<T extends { name: string }>(kind: string, options: T, shape: Shape<T>): void {
  checkOptions<T>(options, `${kind}: options`, shape);
  assertAgentName(options.name);
}

const plugin: Shape<Plugin> = {
  name: required(name),
  policy: having('evaluate'),
  beforeAgent: fn,
  afterAgent: fn,
  beforeModel: fn,
  afterModel: fn,
  beforeTool: fn,
  afterTool: fn,
  onModelError: fn,
  onToolError: fn,
  onUserMessage: fn,
  beforeRun: fn,
  afterRun: fn,
  onEvent: fn,
};

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function checkPlugins(plugins: readonly Plugin[], where: string): void {
  for (const [index, one] of plugins.entries()) checkShape<Plugin>(one, `${where}[${index}]`, plugin);
}

export const services: Shape<Services> = {
  memory: having('addSession', 'search'),
  artifacts: having('save', 'load', 'list'),
  credentials: having('save', 'load'),
};

export const sessionService = having('create', 'get', 'append', 'acquire', 'holder');

/** 0 or less lifts the cap on model calls. */
export const turnLimits: Shape<TurnLimits> = {
  steps: amount,
  usd: amount,
  tokens: amount,
  minutes: amount,
  maxLlmCalls: { needs: 'a number', fits: (value) => typeof value === 'number' && !Number.isNaN(value) },
};
