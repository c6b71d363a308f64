export interface Area {
  /** Globs of the source that is changed. */
  source: readonly string[];
  /** Globs of the tests that are to notice it: the area's own. */
  tests: readonly string[];
}

export const areas: Readonly<Record<string, Area>> = {
  gate: { source: ['src/gate/*.ts'], tests: ['test/gate/*.test.ts'] },
  host: { source: ['src/host/*.ts'], tests: ['test/host/*.test.ts', 'test/host/subagents/*.test.ts'] },
  policy: { source: ['src/host/policy/*.ts'], tests: ['test/host/policy/*.test.ts'] },
  connection: {
    source: ['src/host/connection/*.ts', 'src/host/websocket/*.ts', 'src/host/mcp/*.ts'],
    tests: ['test/websocket/*.test.ts', 'test/mcp/*.test.ts'],
  },
  runtime: { source: ['src/runtime/*.ts'], tests: ['test/runtime/*.test.ts', 'test/adapters/adk/*.test.ts'] },
  models: { source: ['src/adapters/models/*.ts'], tests: ['test/adapters/models/*.test.ts'] },
};
