import type { CalledAgents } from '../frame/index.ts';

/** Of all sessions none of whose tools is an agent. */
export const noSubagents: CalledAgents = {
  of: () => undefined,
  isResumable: () => false,
  begin: async () => [],
  heal: async () => {},
  abortAll: async () => {},
  callOfThread: async () => undefined,
  steer: async () => undefined,
  release: () => {},
  finish: async (end) => end,
  settled: async () => {},
  bound: (_, hostTool) => hostTool,
  waitsFor: async () => undefined,
  within: async () => undefined,
  openBelow: async () => undefined,
  owner: async () => undefined,
  sessionIds: async () => [],
  hasAsked: () => false,
  quiet: async () => {},
  usageOf: () => undefined,
  abort: async () => false,
  reap: async () => {},
  async *history() {},
  dispose: async () => {},
};
