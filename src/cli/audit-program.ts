import type { Command } from 'commander';
import type { VerifyFlags, ViewerFlags } from './commands/audit.ts';
import type { ExplainFlags, TestFlags } from './commands/policy.ts';
import { addCommonFlags, addStoreFlags } from './workspace/index.ts';

/** `coxswain policy …`. */
export function addPolicyCommands(program: Command, result: { code: number }): void {
  const policy = program.command('policy').description('try a policy on cases, or ask it about one call');
  addToolFlags(addCommonFlags(policy.command('test')))
    .description('try a policy on the table of cases beside it; ends with 1 if one comes out otherwise')
    .argument('<policy>', 'rules (YAML, JSON), Cedar (.cedar) or the URL of a policy server')
    .option('--cases <file>', 'the table; default: POLICY with .cases.yaml')
    .addHelpText('after', '\nExample:\n  $ coxswain policy test team.yaml            # tries team.cases.yaml')
    .action(async (file: string, flags: TestFlags) => {
      result.code = await (await import('./commands/policy.ts')).testPolicy(file, flags);
    });
  addToolFlags(addStoreFlags(policy.command('explain')))
    .description('what a policy says about one call, by which rule, from which inputs')
    .argument('<policy>', 'rules (YAML, JSON), Cedar (.cedar) or the URL of a policy server')
    .argument('<call>', 'name of a tool; with --session the id of a stored call')
    .option('--session <id>', 'explain a stored call, and show what was decided then')
    .option('--args <json>', 'arguments of the call')
    .option('--as <name>', 'principal')
    .option('--role <role...>', 'roles of the principal')
    .option('--agents <path>', 'agents from the root to the caller: lead/intern')
    .option('--source <source>', 'where the tool comes from: host, agent:NAME, mcp:SERVER')
    .option('--kind <kind>', 'kind of the tool')
    .option('--read-only', 'the tool says that it is readOnly')
    .option('--destructive', 'the tool says that it is destructive')
    .option('--mode <mode>', 'permission mode')
    .option('--json', 'as one JSON object')
    .addHelpText(
      'after',
      `
Examples:
  $ coxswain policy explain team.yaml pay --args '{"eur": 50}' --as anna --role clerk
  $ coxswain policy explain team.yaml CALL --session 01J…`,
    )
    .action(async (file: string, call: string, flags: ExplainFlags) => {
      result.code = await (await import('./commands/policy.ts')).explainPolicy(file, call, flags);
    });
}

function addToolFlags(command: Command): Command {
  return command
    .option('--agent <module>', 'agent module whose tools a policy is checked against (Cedar needs it)')
    .option('--workspace <dir>', 'folder that is handed to the agent module');
}

/** `coxswain audit …`. */
export function addAuditCommands(program: Command, result: { code: number }): void {
  const audit = program.command('audit').description('who asked, who decided, what ran; and that it was not touched');
  addViewerFlags(audit.command('show').description('what became of each call').argument('<id>', 'session'))
    .option('--json', 'as JSON lines')
    .addHelpText('after', '\nExample:\n  $ coxswain audit show 01J…')
    .action(async (id: string, flags: ViewerFlags) => {
      result.code = await (await import('./commands/audit.ts')).showAudit(id, flags);
    });
  addViewerFlags(audit.command('export').description('the audit events as JSON lines').argument('<id>', 'session'))
    .addHelpText('after', "\nExample:\n  $ coxswain audit export 01J… --hide 'pay:/card/number' > audit.jsonl")
    .action(async (id: string, flags: ViewerFlags) => {
      result.code = await (await import('./commands/audit.ts')).exportEvidence(id, flags);
    });
  addStoreFlags(audit.command('verify'))
    .description('check stored sessions or an exported file; ends with 1 and names the place if something is wrong')
    .argument('[id]', 'session')
    .option('--all', 'all sessions of the app; with --user, of that user only')
    .option('--file <file>', 'check an export by itself')
    .option('--against <file>', 'the log must still hold what this export holds')
    .option('--head <seq:hash>', 'the same, against a head that verify has printed')
    .addHelpText(
      'after',
      '\nExamples:\n  $ coxswain audit verify 01J… --against audit.jsonl\n  $ coxswain audit verify --all\n  $ coxswain audit verify --file audit.jsonl',
    )
    .action(async (id: string | undefined, flags: VerifyFlags, command: Command) => {
      const only = command.getOptionValueSource('user') === 'default' ? {} : { only: flags.user };
      result.code = await (await import('./commands/audit.ts')).verifyAudit(id, { ...flags, ...only });
    });
}

function addViewerFlags(command: Command): Command {
  return addStoreFlags(command)
    .option('--as <name>', 'who looks')
    .option('--role <role...>', 'roles of the person who looks')
    .option('--reveal <role...>', 'roles that see what policies have hidden')
    .option('--hide <what...>', 'TOOL:/pointer into the arguments, or TOOL:result; * is every tool');
}
