/**
 * Tries this package with software that others wrote: `npm run interop -- [part of a subject's name …]`. Each subject is
 * a file of `subjects/`; its packages are installed from the registry into a temporary folder. The rows of `docs/interop.md`
 * are written for those that ran. Exits with 1 where something failed.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Check, Subject, Trial } from './subject.ts';
import { writeRows } from './table.ts';

const here = import.meta.dirname;
const TRY_MS = 60_000;

async function subjects(wanted: readonly string[]): Promise<Subject[]> {
  const files = readdirSync(join(here, 'subjects')).filter((file) => file.endsWith('.ts'));
  const all = await Promise.all(
    files.map(async (file) => ((await import(`./subjects/${file}`)) as { default: Subject }).default),
  );
  return all.filter(({ name, role }) => wanted.every((word) => `${role} ${name}`.toLowerCase().includes(word)));
}

async function install(subject: Subject, folder: string): Promise<void> {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const packages = Object.entries(subject.packages).map(([name, version]) => `${name}@${version}`);
  const flags = ['--save-exact', '--no-audit', '--no-fund', ...(subject.scripts ? [] : ['--ignore-scripts'])];
  await promisify(execFile)('npm', ['install', ...flags, ...packages], { cwd: folder, maxBuffer: 64 * 1024 * 1024 });
}

function binOf(folder: string, packageName: string, command?: string): string {
  const at = join(folder, 'node_modules', packageName);
  const { bin } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8')) as {
    bin?: string | Record<string, string>;
  };
  const file = typeof bin === 'string' ? bin : command === undefined ? Object.values(bin ?? {})[0] : bin?.[command];
  if (file === undefined) throw new Error(`${packageName} has no command ${command ?? ''}`);
  return join(at, file);
}

async function inTime(work: () => Promise<string>, ms: number): Promise<string> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing after ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function tried(subject: Subject): Promise<Check[]> {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-interop-'));
  const checks: Check[] = [];
  const note = (what: string, isOk: boolean, seen: string) => {
    checks.push({ what, isOk, seen });
    console.log(`  ${isOk ? 'ok  ' : 'FAIL'} ${what}${seen === '' ? '' : `: ${seen}`}`);
  };
  const trial: Trial = {
    folder,
    file: (path) => join(folder, 'node_modules', path),
    bin: (packageName, command) => binOf(folder, packageName, command),
    async check(what, work) {
      try {
        note(what, true, await inTime(work, subject.tryMs ?? TRY_MS));
      } catch (error) {
        note(what, false, error instanceof Error ? error.message : String(error));
      }
    },
  };
  try {
    await install(subject, folder);
    await subject.run(trial);
  } catch (error) {
    note('could be tried', false, error instanceof Error ? error.message : String(error));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return checks;
}

const wanted = process.argv.slice(2).map((word) => word.toLowerCase());
const chosen = await subjects(wanted);
if (chosen.length === 0) {
  console.error(`no subject is named ${wanted.join(' ')}`);
  process.exit(2);
}
let failed = 0;
for (const subject of chosen) {
  console.log(`${subject.role}: ${subject.name}`);
  const checks = await tried(subject);
  failed += checks.filter(({ isOk }) => !isOk).length;
  writeRows(subject, checks);
}
console.log(`${chosen.length} subjects, ${failed} failures`);
// A subject may leave a child or a socket behind that would keep this process.
process.exit(failed > 0 ? 1 : 0);
