import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

// Database servers of the tests' own, for machines on which none is running: made by the first test file that needs
// one, shared by the others of a run, stopped at its end.

/** How a server is made from the programs of this machine. */
export interface Recipe {
  name: string;
  /** Program that must be there. */
  program: string;
  /** Account that it may run under where this process is root's. */
  account: string;
  url(port: number): string;
  initialise(folder: string): [program: string, args: string[]];
  run(folder: string, port: number): string[];
}

// What a process has written outlives its death; only a power cut takes it back, and no test makes one.
const quick = ['-c', 'fsync=off', '-c', 'full_page_writes=off'];
const quickly = ['--innodb-flush-log-at-trx-commit=2', '--innodb-doublewrite=0'];

export const postgres: Recipe = {
  name: 'postgres',
  program: 'postgres',
  account: 'postgres',
  url: (port) => `postgres://root@127.0.0.1:${port}/postgres`,
  initialise: (folder) => ['initdb', ['-D', folder, '-A', 'trust', '-U', 'root', '-E', 'UTF8', '--locale=C', '-N']],
  run: (folder, port) => ['-D', folder, '-p', String(port), '-k', folder, '-c', 'listen_addresses=127.0.0.1', ...quick],
};

export const mariadb: Recipe = {
  name: 'mariadb',
  program: 'mariadbd',
  account: 'mysql',
  url: (port) => `mysql://root@127.0.0.1:${port}/mysql`,
  initialise: (folder) => [
    'mariadb-install-db',
    ['--no-defaults', `--datadir=${folder}`, '--auth-root-authentication-method=normal', '--skip-test-db'],
  ],
  run: (folder, port) => [
    ...['--no-defaults', `--datadir=${folder}`, `--port=${port}`, '--bind-address=127.0.0.1'],
    ...[`--socket=${join(folder, 's.sock')}`, `--pid-file=${join(folder, 's.pid')}`, ...quickly],
  ],
};

/** Where the servers of this run are; set by the run. */
const FOLDER = 'COXSWAIN_TEST_SERVERS';
const PATIENCE = 60_000;

/**
 * URL of a server of the run's own, or why there is none. `connect` fails until it answers.
 * @throws if one cannot be made although its programs are there
 */
export async function ownServer(
  recipe: Recipe,
  connect: (url: string) => Promise<unknown>,
): Promise<{ url: string } | { skip: string }> {
  const folder = process.env[FOLDER];
  const program = find(recipe.program);
  if (!folder) return { skip: 'and only a run of vitest makes one' };
  if (!program) return { skip: `and no ${recipe.program} to start one with` };
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const place = join(folder, recipe.name);
  const ready = join(folder, `${recipe.name}.url`);
  try {
    mkdirSync(place);
  } catch {
    // Another test file is making it.
    for (const deadline = performance.now() + PATIENCE; !existsSync(ready); await sleep(50)) {
      if (performance.now() > deadline) throw new Error(`${recipe.name} was not started by another test file`);
    }
    return { url: readFileSync(ready, 'utf8') };
  }
  initialise(recipe, place);
  const port = await freePort();
  const child = startServer(recipe, place, port);
  writeFileSync(join(folder, `${recipe.name}.pid`), String(child.pid));
  child.unref();
  const url = recipe.url(port);
  await answering(recipe.name, () => connect(url));
  writeFileSync(ready, url);
  return { url };
}

/** Makes the files of a server in an empty folder. */
export function initialise(recipe: Recipe, place: string): void {
  const account = accountFor(recipe);
  if (account) chownSync(place, account.uid, account.gid);
  const [tool, args] = recipe.initialise(place);
  execFileSync(find(tool, find(recipe.program)) ?? tool, args, { stdio: 'ignore', cwd: place, ...account });
}

/** A server on such a folder, at the head of a group of processes. */
export function startServer(recipe: Recipe, place: string, port: number): ChildProcess {
  const log = openSync(`${place}.log`, 'a');
  const program = find(recipe.program) ?? recipe.program;
  const stdio: ['ignore', number, number] = ['ignore', log, log];
  return spawn(program, recipe.run(place, port), { stdio, cwd: place, detached: true, ...accountFor(recipe) });
}

export async function answering(name: string, connect: () => Promise<unknown>): Promise<void> {
  for (const deadline = performance.now() + PATIENCE; ; await sleep(50)) {
    try {
      await connect();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw new Error(`${name} does not start`, { cause: error });
    }
  }
}

/** For the run: names the folder; what is given back stops the servers. */
export function serversOfThisRun(folder: string): () => Promise<void> {
  process.env[FOLDER] ??= folder;
  if (process.env[FOLDER] !== folder) return async () => {};
  return async () => {
    if (!existsSync(folder)) return;
    for (const file of readdirSync(folder)) {
      if (!file.endsWith('.pid')) continue;
      const pid = Number(readFileSync(join(folder, file), 'utf8'));
      try {
        process.kill(pid, 'SIGQUIT');
        for (let n = 0; n < 100; n++) {
          process.kill(pid, 0);
          await sleep(50);
        }
        process.kill(pid, 'SIGKILL');
      } catch {
        // It is gone.
      }
    }
    rmSync(folder, { recursive: true, force: true });
  };
}

/** A program in the path, or where systems keep servers; first beside another one. */
export function find(program: string, beside?: string): string | undefined {
  const versions = '/usr/lib/postgresql';
  const places = [
    ...(beside === undefined ? [] : [join(beside, '..')]),
    ...(process.env.PATH ?? '').split(delimiter),
    ...['/usr/local/bin', '/usr/sbin', '/usr/local/sbin', '/usr/bin'],
    ...(existsSync(versions) ? readdirSync(versions).map((version) => join(versions, version, 'bin')) : []),
  ];
  return places.map((place) => join(place, program)).find((path) => existsSync(path));
}

/** Servers refuse to run as root. */
function accountFor({ account }: Recipe): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of [account, 'nobody']) {
    try {
      const id = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }));
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      // No such account here.
    }
  }
  return undefined;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}
