import type { Command } from 'commander';

/** Lines of shell as words, comments and redirections left out; one list for each command of a line. */
export function commandsOf(shell: string): string[][] {
  const commands: string[][] = [];
  for (const line of shell.replaceAll('\\\n', ' ').split('\n')) {
    let words: string[] = [];
    for (const [token] of line.matchAll(/"(?:\\.|[^"\\])*"|'[^']*'|#.*$|&&|\|\||[|;<>]|[^\s"'|;<>]+/g)) {
      if (token.startsWith('#')) break;
      if (/^(&&|\|\||[|;<>])$/.test(token)) {
        commands.push(words);
        words = [];
      } else words.push(/^["']/.test(token) ? token.slice(1, -1) : token);
    }
    commands.push(words);
  }
  return commands.filter((words) => words.length > 0);
}

/**
 * What is wrong with the commands of a block: a command or a flag of the command line, or a script of the project, that
 * is not there.
 */
export function commandFaults(shell: string, program: Command, scripts: Readonly<Record<string, string>>): string[] {
  return commandsOf(shell).flatMap((given) => {
    const words = given.slice(given.findIndex((word) => !/^[A-Z_]+=/.test(word)));
    const at = words[0] === 'npx' && words[1] === 'coxswain' ? 1 : 0;
    if (words[at] === 'coxswain') return flagFaults(words.slice(at + 1), program);
    if (words[0] === 'npm' && words[1] === 'start') {
      const run = program.commands.find((command) => command.name() === 'run');
      return run ? flagFaults(words.slice(words[2] === '--' ? 3 : 2), run) : [];
    }
    const script = words[0] === 'npm' && words[1] === 'run' ? words[2] : undefined;
    return script !== undefined && scripts[script] === undefined ? [`there is no script ${script}`] : [];
  });
}

/** The same of configurations: wherever a member `args` begins one of our commands, behind whatever starts the program. */
export function startFaults(value: unknown, program: Command): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const within = Object.values(value).flatMap((member) => startFaults(member, program));
  if (!('args' in value) || !Array.isArray(value.args)) return within;
  const words = value.args.filter((word) => typeof word === 'string');
  const names = program.commands.map((command) => command.name());
  const at = words.findIndex((word) => names.includes(word));
  return at < 0 ? within : [...within, ...flagFaults(words.slice(at), program)];
}

function flagFaults([first, ...rest]: readonly string[], command: Command): string[] {
  const below = command.commands.find((each) => each.name() === first);
  if (below) return flagFaults(rest, below);
  if (command.commands.length > 0 && first !== undefined && !first.startsWith('-'))
    return [`${command.name()} has no command ${first}`];
  const words = [first ?? '', ...rest];
  const own = words.includes('--') ? words.slice(0, words.indexOf('--')) : words;
  return own
    .filter((word) => /^--[a-z]/.test(word))
    .map((word) => word.replace(/=.*/, ''))
    .filter((flag) => flag !== '--help' && flag !== '--version')
    .filter((flag) => !command.options.some((option) => option.long === flag))
    .map((flag) => `${command.name()} has no flag ${flag}`);
}
