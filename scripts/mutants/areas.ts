export interface Area {
  /** Globs of the source that is changed. */
  source: readonly string[];
  /** Globs of the tests that are to notice it: the area's own. */
  tests: readonly string[];
  /** Globs of the tests of other parts that run it too: asked about what the area's own tests let through. */
  wider: readonly string[];
}

export const areas: Readonly<Record<string, Area>> = {
  gate: {
    source: ['src/gate/**/*.ts'],
    tests: ['test/gate/*.test.ts'],
    wider: [
      'test/host/*.test.ts',
      'test/host/policy/shadow.test.ts',
      'test/runtime/*.test.ts',
      'test/input/*.test.ts',
      'test/auto-tools/*.test.ts',
    ],
  },
  host: {
    source: ['src/host/*.ts', 'src/host/{terms,tools,questions,frame,subagents,run,hosted,approvals}/*.ts'],
    tests: ['test/host/*.test.ts', 'test/host/subagents/*.test.ts'],
    // What is made for mutants is no bundle of a browser.
    wider: [
      'test/adapters/adk/*.test.ts',
      'test/input/host.test.ts',
      'test/mcp/*.test.ts',
      'test/websocket/!(browser).test.ts',
    ],
  },
  policy: {
    source: ['src/host/policy/*.ts'],
    tests: ['test/host/policy/*.test.ts'],
    wider: ['test/host/policy-wiring.test.ts', 'test/input/policies.test.ts'],
  },
  connection: {
    source: ['src/host/connection/**/*.ts', 'src/host/websocket/*.ts', 'src/session/resume/*.ts'],
    // What is made for mutants is no bundle of a browser.
    tests: ['test/websocket/!(browser).test.ts'],
    wider: ['test/input/servers.test.ts', 'test/host/other-processes.test.ts'],
  },
  mcp: {
    source: ['src/host/mcp/**/*.ts'],
    tests: ['test/mcp/*.test.ts'],
    wider: ['test/input/servers.test.ts'],
  },
  runtime: {
    source: ['src/runtime/**/*.ts'],
    tests: ['test/runtime/*.test.ts', 'test/adapters/adk/*.test.ts'],
    wider: ['test/host/*.test.ts', 'test/input/agents.test.ts', 'test/audit/*.test.ts'],
  },
  models: {
    source: ['src/adapters/models/**/*.ts'],
    tests: ['test/adapters/models/*.test.ts'],
    wider: ['test/auto-tools/*.test.ts', 'test/conformance/*.test.ts'],
  },
};
