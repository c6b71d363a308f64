/** A folder of src whose files belong together. */
export interface Room {
  /** Folder under src. Its files are meant, not those of folders below it. */
  readonly path: string;
  /** What lives here. */
  readonly holds: string;
  /** Rooms that its files may import, all of them above it in the table. */
  readonly imports: readonly string[];
}

const room = (path: string, holds: string, imports: string): Room => ({
  path,
  holds,
  imports: imports.split(' ').filter(Boolean),
});

/** Every room of src, in the order of imports: a room imports rooms above it alone, types included. */
export const rooms: readonly Room[] = [
  room('contracts', 'interfaces, errors and pure rules of the protocol', ''),
  room('contracts/schemas', 'zod schemas of everything that crosses a boundary', 'contracts'),
  room('session', 'what works over any AgentSession: queue, run, view, input checks', 'contracts'),
  room('gate', 'the one way a tool runs: schema, policy, decision, handler, result', 'contracts session'),
  room('runtime/memory', 'what agents remember of earlier sessions', 'contracts session'),
  room('runtime/artifacts', 'files that agents keep', 'contracts session'),
  room('runtime', 'the event-sourced agent runtime', 'contracts session gate runtime/memory runtime/artifacts'),
  room('testing', 'scripted models and clocks for tests of agents and hosts', 'contracts session runtime'),
  room('conformance', 'the kit: judges any AgentSession by the contract', 'contracts session'),
  room('conformance/report', 'what a run of the kit found, written down', 'contracts conformance'),
  room('conformance/model-server', 'a model endpoint that the kit scripts', 'conformance'),
  room('conformance/stdio', 'an executor behind a pipe', 'contracts session conformance'),
  room(
    'conformance/checks',
    'the requirements, one by one',
    'contracts contracts/schemas conformance conformance/model-server',
  ),
  room('dispatch', "executors of other people's making, as agents of the runtime", 'contracts session gate runtime'),
  room('adapters', 'what adapters share', ''),
  room('adapters/schema', 'schemas as providers want them', 'contracts session'),
  room('adapters/models', 'model providers', 'contracts session gate runtime adapters/schema'),
  room('adapters/stores/sql', 'session stores on SQL databases', 'contracts session runtime'),
  room(
    'adapters/stores',
    'opening and upkeep of stores, files for artifacts',
    'contracts session runtime adapters/stores/sql',
  ),
  room('adapters/adk', 'the runtime as AgentSessions', 'contracts session gate runtime adapters/stores'),
  room('adapters/tools', 'tools of MCP servers and processes', 'contracts session gate runtime'),
  room('adapters/telemetry', 'spans for OpenTelemetry', 'contracts session runtime'),
  room('adapters/audit', 'the log as audit files', 'contracts session runtime'),
  room('adapters/policy', 'Cedar and OPA as policies', 'contracts session gate'),
  room('adapters/remote', 'the client of a served host', 'contracts session'),
  room('adapters/auto-tools', 'tools without session or host', 'contracts session gate runtime adapters/models'),
  room(
    'adapters/batteries',
    'parts for executors of dispatch',
    'contracts session gate runtime dispatch adapters/schema adapters/models',
  ),
  room(
    'adapters/acp',
    'agents behind the Agent Client Protocol, and the reverse',
    'contracts session gate runtime dispatch adapters adapters/adk adapters/tools',
  ),
  room('adapters/google-adk', "Google's ADK as executor", 'contracts session gate runtime dispatch adapters/adk'),
  room('host/policy', 'rules, presets and policy files', 'contracts session gate'),
  room('host', 'the host: gate, questions, budgets, sub-agents', 'contracts session gate host/policy'),
  room('host/witness', 'evidence about calls from outside', 'contracts session gate host'),
  room('host/mcp', 'a host as MCP server', 'contracts session gate host'),
  room('host/connection', 'the session protocol of a served host', 'contracts contracts/schemas session gate host'),
  room('host/websocket', 'sockets for it', 'contracts session gate host host/connection'),
  room(
    'cli',
    'the command line',
    'contracts session gate runtime conformance adapters/models adapters/stores/sql adapters/stores adapters/adk adapters/tools adapters/audit adapters/policy adapters/remote adapters/acp host host/mcp host/websocket',
  ),
  room('', 'the entries that join the parts', 'contracts session gate runtime adapters/adk host cli'),
];

/** Files that a room may hold, its index.ts included. */
export const MAX_FILES = 20;

/** What is not yet as the table wants it. These lists only shrink: an entry that is no longer needed fails the test. */
export const exceptions = {
  /** Rooms with more files than {@link MAX_FILES}. */
  large: [
    'adapters/adk',
    'adapters/models',
    'adapters/stores/sql',
    'adapters/tools',
    'cli',
    'contracts',
    'dispatch',
    'gate',
    'host',
    'host/connection',
    'host/mcp',
    'runtime',
    'session',
  ],
  /** Imports of a room that stands below. */
  upward: [
    'adapters/stores/sql -> adapters/stores',
    'cli -> ',
    'conformance -> conformance/checks',
    'conformance -> conformance/model-server',
    'conformance -> conformance/report',
    'conformance -> conformance/stdio',
    'contracts -> contracts/schemas',
    'host -> host/witness',
    'runtime/artifacts -> runtime',
    'runtime/memory -> runtime',
  ],
  /** Parts of src with files that import one another in a circle, types included, and the most files of one circle. */
  circles: { adapters: 9, cli: 2, conformance: 10, contracts: 3, gate: 4, host: 41, runtime: 47 } as Readonly<
    Record<string, number>
  >,
};
