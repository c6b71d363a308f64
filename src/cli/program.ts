import { Command, Option } from 'commander';
import { PACKAGE_VERSION } from '../contracts/index.ts';
import { addAuditCommands, addPolicyCommands } from './audit-program.ts';
import type { AcpFlags } from './commands/acp.ts';
import type { AnswerFlags, ListApprovalsFlags } from './commands/approvals.ts';
import type { ConformanceFlags } from './commands/conformance.ts';
import type { InitFlags } from './commands/init.ts';
import type { McpFlags } from './commands/mcp.ts';
import type { RunCommandFlags } from './commands/run.ts';
import type { ServeFlags } from './commands/serve.ts';
import { addSessions, addStore } from './sessions-program.ts';
import type { Interrupts } from './terminal/index.ts';
import { addHostFlags, addLimitFlags, addRunFlags, port, positiveWhole, whole } from './workspace/index.ts';

const EXIT_CODES = `
Exit codes:
  0 done · 1 failed · 2 usage · 3 done but something was denied · 4 input required
  5 limit · 6 refusal · 7 done but the answer was cut · 130 aborted`;

/** The command line. What a command comes to is in `result`. */
export function buildProgram(interrupts: Interrupts): { program: Command; result: { code: number } } {
  const result = { code: 0 };
  const program = new Command('coxswain')
    .description('Run agents under your policy, approve their tool calls, manage stored sessions.')
    .version(PACKAGE_VERSION, '-V, --version')
    .exitOverride()
    // Mistakes are told in one line, by whoever catches them.
    .configureOutput({ outputError: () => {} });
  addInit(program, result);
  addRun(program, interrupts, result);
  addPolicyCommands(program, result);
  addAuditCommands(program, result);
  addSessions(program, result);
  addApprovals(program, interrupts, result);
  addMcp(program, interrupts, result);
  addAcp(program, interrupts, result);
  addServe(program, interrupts, result);
  addDev(program, interrupts, result);
  addStore(program, result);
  addConformance(program, interrupts, result);
  program.addHelpText(
    'after',
    `
Examples:
  $ coxswain init my-agent                     # a project to begin with
  $ coxswain run agent.ts "find every TODO and write them to todo.md"
  $ coxswain run agent.ts                      # talk, at a terminal
  $ coxswain approvals list --agent agent.ts
${EXIT_CODES}`,
  );
  return { program, result };
}

function addInit(program: Command, result: { code: number }): void {
  program
    .command('init')
    .description('make a project: an agent with one tool, a policy, a test')
    .argument('[folder]', 'where; default: the current folder', '.')
    .option('--force', 'also in a folder that holds files: replaces those of the same names')
    .addHelpText('after', '\nExample:\n  $ npx coxswain init my-agent')
    .action(async (folder: string, flags: InitFlags) => {
      result.code = (await import('./commands/init.ts')).initProject(folder, flags);
    });
}

function addRun(program: Command, interrupts: Interrupts, result: { code: number }): void {
  const command = program
    .command('run')
    .description('run an agent: one turn, a resumed one, or a conversation')
    .argument('<module>', 'file that exports the agent, see docs/cli.md')
    .argument('[prompt...]', 'what it shall do; else what is piped in, else a conversation');
  addRunFlags(command)
    .option('--session <id>', 'resume a stored session')
    .option('--continue', 'resume the newest session')
    .option('--demo', "without prompt and terminal: run the first of the module's examples")
    .option('--output-schema <file>', 'JSON Schema that the final text must fit')
    .addHelpText(
      'after',
      `
Examples:
  $ coxswain run agent.ts "summarise notes.md"
  $ echo "summarise notes.md" | coxswain run agent.ts --json > events.jsonl
  $ coxswain run agent.ts "tidy up" --policy policy.yaml --max-steps 20 --timeout 5m
  $ coxswain run agent.ts --session 01J…        # answer what is open, resume what was cut off
${EXIT_CODES}`,
    )
    .action(async (module: string, words: string[], flags: RunCommandFlags) => {
      const { runCommand } = await import('./commands/run.ts');
      result.code = await runCommand(module, words, flags, interrupts);
    });
}

function addApprovals(program: Command, interrupts: Interrupts, result: { code: number }): void {
  const approvals = program.command('approvals').description('list, approve or deny what waits for an answer');
  addHostFlags(approvals.command('list').description('open questions over all sessions, oldest first'))
    .option('--agent <module>', 'agent module; without it only the open calls are listed')
    .option('--session <id>', 'of this session only')
    .option('--json', 'as JSON lines')
    .addHelpText('after', '\nExample:\n  $ coxswain approvals list --agent agent.ts')
    .action(async (flags: ListApprovalsFlags) => {
      result.code = await (await import('./commands/approvals.ts')).listApprovals(flags, interrupts);
    });
  for (const verb of ['approve', 'deny'] as const) {
    const command = approvals
      .command(verb)
      .description(`${verb} one request, then resume the run`)
      .argument('<id>', 'id of the request, from "approvals list"');
    addRunFlags(command)
      .option('--agent <module>', 'agent module that the session was made with')
      .option('--reason <text>', 'why; it is logged, and an agent whose call is denied gets it')
      .option('--by <name>', 'who decides; default --user')
      .option('--role <role...>', 'roles of the person who decides')
      .option('--no-run', 'record the answer only')
      .addHelpText('after', `\nExample:\n  $ coxswain approvals ${verb} REQUEST --agent agent.ts --by anna`);
    if (verb === 'approve') {
      command
        .option('--args <json>', 'edited arguments; content, where the agent asks itself')
        .option('--digest <hex>', 'of what was shown, from "approvals list"; what has changed since is not approved');
    }
    command.action(async (id: string, flags: AnswerFlags) => {
      result.code = await (await import('./commands/approvals.ts')).answerApproval(verb, id, flags, interrupts);
    });
  }
}

function addMcp(program: Command, interrupts: Interrupts, result: { code: number }): void {
  const command = program
    .command('mcp')
    .description('serve an agent as a tool to an MCP client, over stdio')
    .argument('<module>', 'file that exports the agent, see docs/cli.md');
  addLimitFlags(addHostFlags(command))
    .addHelpText(
      'after',
      `
Calls that need approval are asked about at the client. In the client's configuration:
  { "mcpServers": { "crew": { "command": "coxswain", "args": ["mcp", "/path/to/agent.ts"] } } }`,
    )
    .action(async (module: string, flags: McpFlags) => {
      const { mcpCommand } = await import('./commands/mcp.ts');
      result.code = await mcpCommand(module, flags, PACKAGE_VERSION, interrupts);
    });
}

function addConformance(program: Command, interrupts: Interrupts, result: { code: number }): void {
  program
    .command('conformance')
    .description('test whether an executor keeps the contract')
    .argument('<target...>', 'module, ws:// address, or a command after --')
    .option('--only <part>', 'requirements with this in their id')
    .option('--expected <file>', 'known failures: JSON object of id and reason; a stale one fails')
    .option('--shared', 'one executor for all checks: faster, weaker')
    .option('--deadline <ms>', 'milliseconds that one wait may take, default 10000')
    .option('--json', 'report as JSON')
    .option('--junit <file>', 'report as JUnit XML, too')
    .option('--agent <name>', 'which agent of a server')
    .option('--token <token>', 'for a server; default COXSWAIN_TOKEN')
    .addHelpText(
      'after',
      `
Examples:
  $ coxswain conformance -- python3 executor.py
  $ coxswain conformance source.ts --expected known.json --junit report.xml
  $ coxswain conformance ws://127.0.0.1:8080 --agent bot --only tool
Exit codes: 0 conformant · 1 not · 2 usage`,
    )
    .action(async (words: string[], flags: ConformanceFlags) => {
      const { conformanceCommand } = await import('./commands/conformance.ts');
      result.code = await conformanceCommand(words, flags, interrupts);
    });
}

function addAcp(program: Command, interrupts: Interrupts, result: { code: number }): void {
  const command = program
    .command('acp')
    .description('serve an agent to an editor, over the Agent Client Protocol on stdio')
    .argument('<module>', 'file that exports the agent, see docs/cli.md');
  addLimitFlags(addHostFlags(command))
    .option('--context-tokens <n>', "tokens that the model's context holds, to show how full it is", positiveWhole)
    .addHelpText(
      'after',
      '\nExample, as the command of an agent in an editor:\n  $ coxswain acp agent.ts --store sqlite:team.db',
    )
    .action(async (module: string, flags: AcpFlags) => {
      const { acpCommand } = await import('./commands/acp.ts');
      result.code = await acpCommand(module, flags, PACKAGE_VERSION, interrupts);
    });
}

function addServe(program: Command, interrupts: Interrupts, result: { code: number }): void {
  const command = program
    .command('serve')
    .description('serve an agent over WebSocket, to hosts, pages and people elsewhere')
    .argument('<module>', 'file that exports the agent, see docs/cli.md');
  addHostFlags(command)
    .option('--port <n>', 'port; 0: any free one', port, 4747)
    .option('--listen <address>', 'address to listen on', '127.0.0.1')
    .option('--people <file>', 'who may come: JSON, [{"token": "…", "id": "anna", "roles": ["boss"]}]')
    .option('--allow-origin <origin...>', 'pages that may connect')
    .option('--allow-host <name...>', 'names that the server is called by')
    .option('--http', 'serve plain HTTP and event streams too, on the same port')
    .option('--ui', 'serve the inspector: a page on the same port for approvals and sessions')
    .option('--trace-url <address>', 'with --ui: where a trace is looked at, as https://traces.example/{traceId}')
    .addOption(new Option('--open-once <file>').hideHelp())
    .option('--mcp <port>', 'serve MCP clients too, over HTTP on this port; 0: any free one', port)
    .option('--recover', 'resume what a crash has cut off')
    .option(
      '--dispatcher <url>',
      'share turns with other nodes: postgres://…, restate://…, or postgres for the database of --store',
    )
    .option('--dispatcher-address <url>', 'by which Restate reaches the nodes; default: this one')
    .option(
      '--dispatcher-listen <address:port>',
      'where this node listens to Restate; default: 127.0.0.1, any free port',
    )
    .option('--bus <url>', 'hear other nodes at once: postgres://…, nats://…, or postgres')
    .option('--turns <n>', 'turns of the dispatcher at a time', positiveWhole, 100)
    .addOption(
      new Option('--agent-changed <what>', 'turns that another version of the agent has begun').choices([
        'go',
        'ask',
        'hold',
      ]),
    )
    .option('--max-turns <n>', 'turns at a time, of clients too; more are refused for a second', positiveWhole)
    .option('--max-memory <MiB>', 'memory above which nothing new is begun', positiveWhole)
    .option('--deadline <seconds>', 'how long runs may continue after SIGTERM', whole, 30)
    .addHelpText(
      'after',
      `
Without --people one token is made, in a file that the first line of output names; only this machine can connect.

Examples:
  $ coxswain serve agent.ts
  $ coxswain serve agent.ts --store postgres://db/shop --dispatcher postgres --bus postgres --people people.json
  $ coxswain serve agent.ts --listen 0.0.0.0 --people people.json --allow-host agents.example`,
    )
    .action(async (module: string, flags: ServeFlags) => {
      const { serveCommand } = await import('./commands/serve.ts');
      result.code = await serveCommand(module, flags, PACKAGE_VERSION, interrupts);
    });
}

function addDev(program: Command, interrupts: Interrupts, result: { code: number }): void {
  program
    .command('dev')
    .description('serve an agent with the inspector, open it, and start again when a file of the agent changes')
    .argument('<module>', 'file that exports the agent, see docs/cli.md')
    .argument('[flags...]', 'those of serve')
    .allowUnknownOption()
    .addHelpText('after', '\nExample:\n  $ coxswain dev agent.ts')
    .action(async (module: string, flags: string[]) => {
      const { devCommand } = await import('./commands/dev.ts');
      result.code = await devCommand(module, flags, interrupts.start().signal);
    });
}
