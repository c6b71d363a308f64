import type { Command } from 'commander';
import { addCommonFlags, addStoreFlags, age, positiveWhole, storeOption, whole } from './workspace/index.ts';

interface Result {
  code: number;
}

/** `coxswain sessions …`: each module is loaded by the command that needs it. */
export function addSessions(program: Command, result: Result): void {
  const sessions = program.command('sessions').description('look after stored sessions');
  const add = (name: string, about: string, example: string) =>
    addStoreFlags(sessions.command(name).description(about)).addHelpText(
      'after',
      `\nExample:\n  $ coxswain sessions ${name}${example}`,
    );
  add('list', 'sessions of the app, newest first; with --user, of that user only', ' --store sqlite:team.db')
    .option('--json', 'as JSON lines')
    .option('--limit <n>', 'at most so many', positiveWhole)
    .option('--after <id>', 'those after this one; USER/ID where users share an id')
    .action(async (flags, command: Command) => {
      const only = command.getOptionValueSource('user') === 'default' ? {} : { only: flags.user };
      result.code = await (await import('./commands/sessions.ts')).listSessions({ ...flags, ...only });
    });
  add('show', 'what was said and done', ' 01J… --json')
    .argument('<id>')
    .option('--json', 'durable events as JSON lines')
    .action(async (id: string, flags) => {
      result.code = await (await import('./commands/sessions.ts')).showSession(id, flags);
    });
  add('delete', 'delete sessions for good', ' 01J… 01K…')
    .argument('<id...>')
    .action(async (ids: string[], flags) => {
      result.code = await (await import('./commands/sessions.ts')).deleteSessions(ids, flags);
    });
  add('fork', 'copy a session; what is open is settled in the copy', ' 01J… --through 42')
    .argument('<id>')
    .option('--through <seq>', 'copy its log up to this event only', whole)
    .option('--id <id>', 'id of the copy; default a new one')
    .action(async (id: string, flags) => {
      result.code = await (await import('./commands/sessions-copy.ts')).forkSession(id, flags);
    });
  add('rewind', 'take back the last turns; the log keeps them', ' 01J… --turns 2')
    .argument('<id>')
    .option('--turns <n>', 'how many; default 1', positiveWhole)
    .option('--through <seq>', 'back to the turn that ended with this event', whole)
    .action(async (id: string, flags) => {
      result.code = await (await import('./commands/sessions-copy.ts')).rewindSession(id, flags);
    });
  add('export', 'a session as lines of JSON', ' 01J… --out session.jsonl')
    .argument('<id>')
    .option('--out <file>', 'a new file; default stdout')
    .action(async (id: string, flags) => {
      result.code = await (await import('./commands/sessions-copy.ts')).exportLines(id, flags);
    });
  add('import', 'add a session that was exported', ' session.jsonl --store postgres://db/app')
    .argument('[file]', 'default stdin')
    .option('--id <id>', 'its id here; default the one that it had')
    .option('--no-keep-open', 'settle its open calls; always so if the original is in this store')
    .action(async (file: string | undefined, flags) => {
      result.code = await (await import('./commands/sessions-copy.ts')).importLines(file, flags);
    });
  add('prune', 'delete sessions that nobody has written to for a time', ' --older-than 90d --dry-run')
    .requiredOption('--older-than <time>', '12h, 30d, 8w', age)
    .option('--all-users', 'of all users of the app, not only --user')
    .option('--with-pending', 'those with open calls too')
    .option('--dry-run', 'only list them')
    .action(async (flags) => {
      result.code = await (await import('./commands/sessions-upkeep.ts')).pruneSessions(flags);
    });
  add('erase', 'all that is kept of --user: sessions, state, memory, artifacts', ' --user anna --yes')
    .option('--yes', 'for good')
    .action(async (flags, command: Command) => {
      const isNamed = command.getOptionValueSource('user') !== 'default';
      result.code = await (await import('./commands/sessions-upkeep.ts')).eraseUser({ ...flags, isNamed });
    });
  add('rebuild', 'rebuild the index of open calls from the logs', '')
    .argument('[id]', 'of one session; default all of the store')
    .action(async (id: string | undefined, flags) => {
      result.code = await (await import('./commands/sessions-upkeep.ts')).rebuildIndex(id, flags);
    });
}

/** `coxswain store …`. */
export function addStore(program: Command, result: Result): void {
  const store = program.command('store').description('look after a store');
  addCommonFlags(store.command('migrate').description('bring the tables up to date, or back to a version'))
    .addOption(storeOption())
    .option('--to <version>', 'this version; 0 drops all tables', whole)
    .option('--yes', 'drop what goes with it')
    .addHelpText('after', '\nExample:\n  $ coxswain store migrate --store postgres://db/app')
    .action(async (flags) => {
      result.code = await (await import('./commands/sessions-upkeep.ts')).migrateStore(flags);
    });
}
