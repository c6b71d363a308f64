import { basename, dirname, relative } from 'node:path';

/** A word as a POSIX shell takes it. */
export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** How this command was called, for hints that can be pasted. */
export function commandName(): string {
  const script = process.argv[1] ?? '';
  // From source: the Node that the package pins is found by npx.
  if (script.endsWith('.ts')) return `npx node ${quote(relative(process.cwd(), script) || script)}`;
  const isGlobal = basename(script) === 'coxswain' && basename(dirname(script)) !== '.bin';
  return isGlobal ? 'coxswain' : 'npx coxswain';
}

/** A command that can be pasted; options without a value are left out. */
export function commandLine(words: readonly string[], options: Record<string, string | undefined>): string {
  const flags = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, quote(value)],
  );
  return [commandName(), ...words.map(quote), ...flags].join(' ');
}

/** How to come back to a session: as the command was called, `npm start` where it was that. */
export function comeBackLine(module: string, options: Record<string, string | undefined>): string {
  const line = commandLine(['run', module], options);
  const isStart = process.env.npm_lifecycle_event === 'start' && /^examples[\\/]workspace[\\/]agent\.ts$/.test(module);
  return isStart ? line.replace(/^.*? run \S+/, 'npm start --') : line;
}
