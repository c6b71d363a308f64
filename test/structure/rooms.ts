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
  room('contracts/values', 'errors, ids, JSON', ''),
  room('contracts/schemas', 'zod schemas of everything that crosses a boundary', 'contracts/values'),
  room(
    'contracts/types',
    'types of what crosses a boundary, with pure rules about them',
    'contracts/values contracts/schemas',
  ),
  room('contracts/grammar', 'which order of events a stream may have', 'contracts/values contracts/types'),
  room(
    'contracts',
    'interfaces, errors and pure rules of the protocol',
    'contracts/values contracts/schemas contracts/types contracts/grammar',
  ),
  room('base', 'option checks, lazy maps, ids, times and timers: helpers that know nothing of agents', 'contracts'),
  room('session/checks', 'checks of what a session is given: inputs, answers, options', 'contracts base'),
  room('session/stream', 'queues that carry events to a consumer, and the words of a stream', 'contracts base'),
  room(
    'session/resume',
    'what a session that is followed or taken up again sends: from which place, which events, which deltas',
    'contracts',
  ),
  room(
    'session/link',
    'what a host and its executor agree on beside the public contract',
    'contracts base session/stream',
  ),
  room(
    'session',
    'what works over any AgentSession, whoever implements it: run, view, audit, redaction',
    'contracts base session/checks session/stream session/link',
  ),
  room(
    'session/ui',
    "sessions as user interfaces of the AI SDK show them: chunks, messages, and a page's request",
    'contracts base',
  ),
  room(
    'session/ag-ui',
    'sessions as clients of AG-UI show them: events, messages, interrupts, and what a run asks for',
    'contracts base session/ui',
  ),
  room('gate/values', 'what a handler returned as JSON and content parts', 'contracts base'),
  room('gate/pattern', 'regular expressions of schemas and rules, with bounded effort', 'base'),
  room(
    'gate/schema',
    'schemas of tools and outputs: conversion, validation, coercion, explanation',
    'contracts base gate/pattern',
  ),
  room(
    'gate/result',
    'results of tools: normalised, capped, as a response for the model',
    'contracts base gate/values',
  ),
  room(
    'gate/questions',
    'the terms of a question: who may answer it, how many must, until when, what time makes of it',
    'contracts base session',
  ),
  room(
    'gate/policy',
    'the decision on a call: policies, hooks, questions, approvals',
    'contracts base gate/values gate/schema gate/result gate/questions',
  ),
  room(
    'gate/calls',
    'what is to be done about a call that has no result, and what it is closed with',
    'contracts base gate/result gate/questions gate/policy',
  ),
  room(
    'gate/run',
    'the one place where a handler is called, and wrappers of tools',
    'contracts base gate/schema gate/result gate/policy gate/calls',
  ),
  room(
    'gate',
    'the one way a tool runs',
    'base gate/values gate/pattern gate/schema gate/result gate/questions gate/policy gate/calls gate/run',
  ),
  room('runtime/log', 'the events of a session, and what folds of them say', 'contracts base session gate'),
  room(
    'runtime/history',
    'what a model is shown of a log, and what of it is left out to save room',
    'contracts base gate runtime/log',
  ),
  room(
    'runtime/store',
    'the contract of session stores, the rules that all keep, the store in memory',
    'contracts base session gate runtime/log',
  ),
  room('runtime/services', 'credentials, artifacts and memory of agents', 'contracts base runtime/log runtime/store'),
  room('runtime/model', 'what a model is asked and what it answers', 'contracts runtime/log'),
  room(
    'runtime/hooks',
    'plugins and callbacks: what they are given and may return',
    'contracts base session gate runtime/log runtime/store runtime/services runtime/model',
  ),
  room(
    'runtime/live',
    'a session that is open in this process, in step with its store',
    'contracts base session runtime/log runtime/history runtime/store runtime/hooks',
  ),
  room(
    'runtime/agent',
    'an agent in its tree and in a run: contexts, tools, limits, engine',
    'contracts base gate runtime/log runtime/services runtime/model runtime/hooks runtime/live',
  ),
  room(
    'runtime/calls',
    'tool calls of an agent: prepared, scheduled, run, closed',
    'contracts base session gate runtime/log runtime/model runtime/hooks runtime/live runtime/agent',
  ),
  room(
    'runtime/step',
    'one step of a model: request, stream, answer',
    'contracts base session runtime/log runtime/history runtime/model runtime/hooks runtime/agent runtime/calls',
  ),
  room(
    'runtime/agents',
    'the kinds of agents',
    'contracts base gate runtime/log runtime/history runtime/services runtime/model runtime/hooks runtime/agent runtime/calls runtime/step',
  ),
  room(
    'runtime/run',
    'one run of a session, from its inputs to its end',
    'contracts base session gate runtime/log runtime/store runtime/services runtime/model runtime/hooks runtime/live runtime/agent runtime/calls runtime/step runtime/agents',
  ),
  room(
    'runtime/session',
    'answers, aborts and questions of a session while it runs or rests',
    'contracts base session/resume session gate runtime/log runtime/store runtime/services runtime/model runtime/hooks runtime/live runtime/agent runtime/calls runtime/step runtime/agents runtime/run',
  ),
  room(
    'runtime',
    'the event-sourced agent runtime, as other parts import it',
    'base session runtime/log runtime/history runtime/store runtime/services runtime/model runtime/hooks runtime/live runtime/agent runtime/calls runtime/step runtime/agents runtime/run runtime/session',
  ),
  room('testing', 'scripted models and clocks for tests of agents and hosts', 'contracts session runtime'),
  room('conformance/model-server', 'a model endpoint that the kit scripts', 'session'),
  room(
    'conformance/kit',
    'what judges one executor: targets, probes, requirements, runs',
    'contracts session conformance/model-server',
  ),
  room('conformance/stdio', 'an executor behind a pipe', 'contracts session conformance/kit'),
  room('conformance/report', 'what a run of the kit found, written down', 'contracts base conformance/kit'),
  room(
    'conformance/checks',
    'the requirements, one by one',
    'contracts/schemas contracts conformance/model-server conformance/kit',
  ),
  room(
    'conformance',
    'the kit: judges any AgentSession by the contract',
    'conformance/model-server conformance/kit conformance/stdio conformance/report conformance/checks',
  ),
  room('dispatch/records', 'messages, thoughts, tool calls and media as records', 'contracts session'),
  room(
    'dispatch/tools',
    'tools of an executor, and where large results are kept',
    'contracts session gate runtime dispatch/records',
  ),
  room(
    'dispatch/turn',
    'one turn: pipelines, buses, context, watchdog',
    'contracts session gate runtime dispatch/records dispatch/tools',
  ),
  room(
    'dispatch/agent',
    'an executor as an agent of the runtime',
    'contracts session gate runtime dispatch/records dispatch/tools dispatch/turn',
  ),
  room(
    'dispatch',
    "executors of other people's making, as agents of the runtime",
    'dispatch/records dispatch/tools dispatch/turn dispatch/agent',
  ),
  room('adapters/schema', 'schemas as providers want them', 'contracts session'),
  room('adapters/models/content', 'what all providers share in requests and answers', 'contracts runtime'),
  room(
    'adapters/models/wire',
    'HTTP to a provider: retries, event streams, options',
    'contracts session gate runtime adapters/models/content',
  ),
  room(
    'adapters/models/ai-sdk',
    'models of the AI SDK, and agents as such models',
    'contracts session session/ui runtime adapters/schema adapters/models/content adapters/models/wire',
  ),
  room(
    'adapters/models/anthropic',
    'Anthropic Messages',
    'contracts session runtime adapters/schema adapters/models/content adapters/models/wire',
  ),
  room('adapters/models/fallback', 'several models as one', 'contracts session runtime adapters/models/content'),
  room(
    'adapters/models/gemini',
    'Gemini',
    'contracts session runtime adapters/schema adapters/models/content adapters/models/wire',
  ),
  room(
    'adapters/models/images',
    'images made as small as a provider takes them',
    'contracts session runtime adapters/models/content adapters/models/wire',
  ),
  room(
    'adapters/models/openai',
    'OpenAI Chat Completions and Responses',
    'contracts session runtime adapters/schema adapters/models/content adapters/models/wire',
  ),
  room(
    'adapters/models',
    'model providers',
    'contracts session runtime adapters/models/content adapters/models/wire adapters/models/ai-sdk adapters/models/anthropic adapters/models/fallback adapters/models/gemini adapters/models/images adapters/models/openai',
  ),
  room(
    'adapters/stores/common',
    'stored events as data: checked, copied, taken back',
    'contracts base session runtime',
  ),
  room(
    'adapters/stores/sql/statements',
    'SQL without a database: steps, rows, reads, versions of a schema',
    'contracts base runtime',
  ),
  room(
    'adapters/stores/sql/databases',
    'what differs between SQLite, PostgreSQL, MySQL and MariaDB',
    'contracts adapters/stores/sql/statements',
  ),
  room(
    'adapters/stores/sql/kysely',
    'a database by Kysely: its pool and its driver',
    'contracts adapters/stores/sql/statements adapters/stores/sql/databases',
  ),
  room(
    'adapters/stores/sql/sqlite-file',
    'a SQLite file: connection, migrations, who holds a lease',
    'contracts session runtime adapters/stores/sql/statements adapters/stores/sql/databases',
  ),
  room(
    'adapters/stores/sql/services',
    'sessions, leases, memory and artifacts over SQL',
    'contracts base session runtime adapters/stores/common adapters/stores/sql/statements adapters/stores/sql/sqlite-file',
  ),
  room(
    'adapters/stores/sql',
    'session stores on SQL databases',
    'contracts session runtime adapters/stores/sql/statements adapters/stores/sql/databases adapters/stores/sql/kysely adapters/stores/sql/sqlite-file adapters/stores/sql/services',
  ),
  room(
    'adapters/stores',
    'opening and upkeep of stores, files for artifacts',
    'contracts session runtime adapters/stores/sql/sqlite-file adapters/stores/sql',
  ),
  room(
    'adapters/adk',
    "the adapter of this package's own runtime: its agents as AgentSessions",
    'contracts base session/resume session gate runtime/session runtime',
  ),
  room(
    'adapters/tools/mcp/wire',
    'the connection to an MCP server, and what it may send',
    'contracts base session gate',
  ),
  room(
    'adapters/tools/mcp/toolset',
    'tools of a server as tools of an agent',
    'contracts base session gate runtime adapters/tools/mcp/wire',
  ),
  room(
    'adapters/tools/mcp/config',
    'MCP servers named in a file',
    'contracts base session adapters/tools/mcp/wire adapters/tools/mcp/toolset',
  ),
  room(
    'adapters/tools/skills',
    'skills of a folder: what an agent has to know of them, and the tool that reads one',
    'contracts session',
  ),
  room(
    'adapters/tools',
    'tools of MCP servers and processes',
    'adapters/tools/mcp/wire adapters/tools/mcp/toolset adapters/tools/mcp/config',
  ),
  room('adapters/telemetry', 'spans for OpenTelemetry', 'contracts session runtime'),
  room('adapters/audit', 'the log as audit files', 'contracts base session runtime'),
  room('adapters/policy', 'Cedar and OPA as policies', 'contracts base session gate'),
  room('adapters/remote', 'the client of a served host', 'contracts base session/resume session'),
  room(
    'adapters/page',
    'sessions and open questions of a server as stores for user interfaces',
    'contracts base session adapters/remote',
  ),
  room('adapters/react', 'hooks for React over them', 'contracts adapters/remote adapters/page'),
  room('adapters/auto-tools', 'tools without session or host', 'contracts session gate runtime adapters/models'),
  room(
    'adapters/batteries',
    'parts for executors of dispatch',
    'contracts session gate runtime dispatch adapters/schema adapters/models/wire adapters/models/openai',
  ),
  room('adapters/acp/calls', 'tool calls and content in the words of the protocol', 'contracts session dispatch'),
  room(
    'adapters/acp/client',
    'agents of others, driven as sessions',
    'contracts session gate runtime dispatch adapters/adk adapters/acp/calls',
  ),
  room('adapters/acp/server', 'our agents, served to an editor', 'contracts session adapters/tools adapters/acp/calls'),
  room(
    'adapters/acp',
    'agents behind the Agent Client Protocol, and the reverse',
    'adapters/acp/client adapters/acp/server',
  ),
  room(
    'adapters/google-adk',
    "Google's ADK, another product, as executor",
    'contracts base session gate runtime dispatch adapters/adk',
  ),
  room('adapters/nodes', 'what joins nodes on several machines, by other products', 'contracts base'),
  room('host/policy', 'rules, presets and policy files', 'contracts base session gate'),
  room(
    'host/terms',
    'what turns are held to: options, budget, principal, mode, remembered answers',
    'contracts session gate host/policy',
  ),
  room(
    'host/tools',
    'tools that the host runs, and the gate call for one request',
    'contracts session gate host/terms',
  ),
  room(
    'host/questions',
    'what to do about an open call: the judge, questions to people, answers',
    'contracts session gate host/policy host/terms host/tools',
  ),
  room(
    'host/witness',
    'what the host noted itself of calls, for executors that it does not believe',
    'contracts session gate host/terms',
  ),
  room(
    'host/frame',
    'what one handle of a session has of its host',
    'contracts session gate host/policy host/terms host/tools host/questions host/witness',
  ),
  room(
    'host/subagents',
    'agents that are called as tools, in sessions of their own',
    'contracts session gate host/terms host/tools host/frame',
  ),
  room(
    'host/run',
    'one run: inner streams, calls, questions, end',
    'contracts base session gate host/terms host/tools host/questions host/frame',
  ),
  room(
    'host/hosted',
    'the hosted session: answers, aborts, going on',
    'contracts session/link session gate host/terms host/tools host/questions host/frame host/subagents host/run',
  ),
  room(
    'host/approvals',
    'open questions of all sessions, and sessions to go on with',
    'contracts session gate host/policy host/terms host/questions host/hosted',
  ),
  room(
    'host/background',
    'turns that no client holds: submitted, woken, taken over',
    'contracts base session host/terms host/hosted host/approvals',
  ),
  room(
    'host',
    'the host: gate, questions, budgets, sub-agents',
    'contracts base session gate host/policy host/terms host/tools host/questions host/witness host/frame host/subagents host/hosted host/approvals host/background',
  ),
  room('host/mcp/wire', "what is put around the SDK's handlers, and addresses of cards", 'contracts'),
  room(
    'host/mcp/turn',
    'one call of an agent over MCP: turn, questions, result',
    'contracts session gate host host/mcp/wire',
  ),
  room('host/mcp/card', 'calls that wait, as cards of MCP Apps', 'contracts session host host/mcp/wire host/mcp/turn'),
  room(
    'host/mcp/tasks',
    'calls as tasks: what runs on without its caller',
    'contracts session gate host host/mcp/wire host/mcp/turn',
  ),
  room(
    'host/mcp/server',
    'the MCP server, and stdio',
    'contracts base session gate host host/mcp/turn host/mcp/card host/mcp/tasks',
  ),
  room(
    'host/mcp/http',
    'MCP over HTTP: sessions, admission, replay',
    'contracts base host/terms host host/mcp/turn host/mcp/server',
  ),
  room('host/mcp', 'a host as MCP server', 'host/mcp/turn host/mcp/server host/mcp/http'),
  room(
    'host/operator',
    'what operators see of sessions of others',
    'contracts session gate host/subagents host/hosted host',
  ),
  room('host/connection/protocol', 'JSON-RPC, messages, limits', 'contracts/schemas contracts session gate'),
  room(
    'host/connection/stream',
    'a session on a connection: frames, replay, control',
    'contracts session/resume session host/hosted host/connection/protocol',
  ),
  room(
    'host/connection/server',
    'what is served, to whom, and the methods',
    'contracts session/resume session/link session gate host/terms host/hosted host/approvals host host/operator host/connection/protocol host/connection/stream',
  ),
  room(
    'host/connection',
    'the session protocol of a served host',
    'host/connection/protocol host/connection/stream host/connection/server',
  ),
  room(
    'host/http',
    'requests of plain HTTP and event streams for it',
    'contracts/schemas contracts base session/ui session/ag-ui session/resume session gate host host/connection',
  ),
  room(
    'host/inspector',
    "the inspector's page on a server: its files, and how a browser signs in",
    'contracts host/connection',
  ),
  room(
    'host/websocket',
    'sockets for it',
    'contracts base session gate host/terms host host/connection host/http host/inspector',
  ),
  room('embed', 'a host over agents of the runtime, in one program', 'contracts session runtime adapters/adk host'),
  room('cli/terminal', 'the terminal: keys, colours, signals, exit codes', 'contracts session'),
  room('cli/editing', 'the line that a person edits, and its history', 'cli/terminal'),
  room('cli/view', 'a stream as text', 'contracts cli/terminal'),
  room(
    'cli/questions',
    'questions to the person at the terminal, with previews and differences',
    'contracts cli/terminal cli/editing',
  ),
  room(
    'cli/workspace',
    'what a command works on: flags, agent module, model, policy, store, host',
    'contracts session gate runtime adapters/models adapters/stores adapters/adk adapters/tools adapters/policy adapters/nodes host embed cli/terminal cli/questions',
  ),
  room(
    'cli/turn',
    'turns of a command or of a conversation',
    'contracts session gate cli/terminal cli/editing cli/view cli/questions cli/workspace',
  ),
  room(
    'cli/commands',
    'one file for each command',
    'contracts base session gate runtime conformance adapters/stores/common adapters/stores/sql adapters/adk adapters/audit adapters/remote adapters/acp host host/mcp host/websocket cli/terminal cli/view cli/questions cli/workspace cli/turn',
  ),
  room('cli', 'the command line', 'contracts cli/terminal cli/workspace cli/commands'),
  room(
    'entries',
    'the published entries, one file each: which names of the rooms are public',
    'contracts contracts/schemas session/ui session gate runtime testing conformance dispatch adapters/models adapters/stores/common adapters/stores adapters/adk adapters/audit adapters/policy adapters/remote adapters/page adapters/auto-tools adapters/batteries adapters/tools/skills host host/http',
  ),
  room(
    'entries/peers',
    'the same, of entries that need an optional package',
    'contracts adapters/nodes adapters/stores/sql adapters/tools adapters/telemetry adapters/policy adapters/acp adapters/google-adk adapters/react host/mcp host/websocket',
  ),
  room(
    '',
    'the entry that most programs use, and the command line',
    'contracts session gate runtime adapters/adk host embed cli',
  ),
];

/** Which parts of src the rooms of a part may import beside their own. `cli`, `embed`, `entries` and src itself join all of them. */
export const directions: Readonly<Record<string, readonly string[]>> = {
  contracts: [],
  base: ['contracts'],
  session: ['contracts', 'base'],
  gate: ['contracts', 'base', 'session'],
  runtime: ['contracts', 'base', 'session', 'gate'],
  dispatch: ['contracts', 'base', 'session', 'gate', 'runtime'],
  adapters: ['contracts', 'base', 'session', 'gate', 'runtime', 'dispatch'],
  host: ['contracts', 'base', 'session', 'gate'],
  testing: ['contracts', 'base', 'session', 'runtime'],
  conformance: ['contracts', 'base', 'session'],
};

/** Files that a room may hold, its index.ts included. */
export const MAX_FILES = 20;

/** What is not yet as the table wants it. These lists only shrink: an entry that is no longer needed fails the test. */
export const exceptions = {
  /** Rooms with more files than {@link MAX_FILES}. */
  large: [] as readonly string[],
  /** Imports of a room that stands below. */
  upward: [] as readonly string[],
  /** Rooms whose files are imported by name, past an index.ts. */
  deep: [
    'adapters/stores/sql',
    'adapters/stores/sql/kysely',
    'cli',
    'cli/commands',
    'contracts/schemas',
  ] as readonly string[],
  /** Parts of src with files that import one another in a circle, types included, and the most files of one circle. */
  circles: {} as Readonly<Record<string, number>>,
};
