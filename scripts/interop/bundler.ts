import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { project } from '../../test/packed.ts';
import type { Subject, Trial } from './subject.ts';
import { hold } from './under-gate.ts';

const run = promisify(execFile);
const apps = join(import.meta.dirname, '../../test/foreign/apps');

export interface Bundling {
  /** Packages, the bundler first. */
  packages: Readonly<Record<string, string>>;
  /** Package of the command, and the command's name where it has several. */
  command: readonly [packageName: string, command?: string];
  /** Files that it wants beside the program, by name: the text. */
  files?: (out: string, trial: Trial) => Readonly<Record<string, string>>;
  /** Its command line: makes `server.mjs` of the project into files of `out` for Node. */
  args: (out: string) => readonly string[];
}

/** A program with a host, policies, tools and schemas, made into a bundle that runs where there are no packages. */
export function bundler(name: string, { packages, command, files, args }: Bundling): Subject {
  return {
    name,
    role: 'bundler',
    packages,
    tryMs: 300_000,
    async run(trial) {
      using home = project({ 'zod-3': 'zod-3' });
      cpSync(apps, home.folder, { recursive: true });
      writeFileSync(join(home.folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
      const bare = mkdtempSync(join(tmpdir(), 'coxswain-bundle-'));
      try {
        await trial.check('a program runs from its bundle as from its sources', async () => {
          const wanted = await run(process.execPath, ['server.mjs'], { cwd: home.folder });
          const out = join(bare, 'out');
          for (const [file, text] of Object.entries(files?.(out, trial) ?? {})) {
            writeFileSync(join(home.folder, file), text);
          }
          await run(process.execPath, [trial.bin(...command), ...args(out)], { cwd: home.folder });
          const made = readdirSync(out).filter((file) => /\.[cm]?js$/.test(file));
          const entry = made.find((file) => /^(server|main)\./.test(file)) ?? made[0] ?? 'nothing';
          const { stdout } = await run(process.execPath, [join(out, entry)], { cwd: bare });
          hold(stdout === wanted.stdout, stdout);
          return '';
        });
      } finally {
        rmSync(bare, { recursive: true, force: true });
      }
    },
  };
}
