import { readFileSync, writeFileSync } from 'node:fs';
import type { Finding, Report, Requirement } from '../../conformance/index.ts';
import {
  junitOf,
  ModelServer,
  makeReport,
  parseExpectedFailures,
  REQUIREMENTS_VERSION,
  requirements,
  runConformance,
  sharedTarget,
  tableOf,
} from '../../conformance/index.ts';
import { messageOf } from '../../contracts/index.ts';
import type { Interrupts } from '../terminal/index.ts';
import { EXIT, onOwnStdout, usageError } from '../terminal/index.ts';
import { findTarget, isModule } from './conformance-target.ts';

export interface ConformanceFlags {
  json?: boolean;
  junit?: string;
  expected?: string;
  only?: string;
  shared?: boolean;
  deadline?: string;
  agent?: string;
  token?: string;
}

/** Judges an executor; the report alone goes to stdout, progress and what a module prints to stderr. */
export function conformanceCommand(
  words: readonly string[],
  flags: ConformanceFlags,
  interrupts: Interrupts,
): Promise<number> {
  if (!isModule(words)) return conformance(words, flags, interrupts, process.stdout.fd);
  return onOwnStdout(interrupts, (fd) => conformance(words, flags, interrupts, fd));
}

async function conformance(
  words: readonly string[],
  flags: ConformanceFlags,
  interrupts: Interrupts,
  stdout: number,
): Promise<number> {
  const chosen = choose(flags.only);
  const all = flags.expected === undefined ? {} : parseExpectedFailures(read(flags.expected), flags.expected);
  const expected = flags.only === undefined ? all : only(all, chosen);
  const deadlineMs = flags.deadline === undefined ? undefined : milliseconds(flags.deadline);
  await using models = await ModelServer.start();
  const target = await findTarget(words, {
    models,
    ...(flags.agent === undefined ? {} : { agent: flags.agent }),
    ...(flags.token === undefined ? {} : { token: flags.token }),
  });
  // A server that cannot be reached is one fault, and not one of each requirement.
  if (/^wss?:/.test(words[0] ?? '')) await (await target.start()).close?.();
  const shared = flags.shared ? sharedTarget(target) : undefined;
  const stop = interrupts.start();
  try {
    const findings = await runConformance(chosen, shared ?? target, {
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      known: Object.keys(expected),
      signal: stop.signal,
      onFinding: progress,
    });
    clearProgress();
    if (stop.signal.aborted) return EXIT.aborted;
    const report = makeReport(target.name, REQUIREMENTS_VERSION, findings, expected);
    write(report, flags, stdout);
    return report.conformant ? EXIT.done : EXIT.failed;
  } finally {
    interrupts.over();
    await shared?.[Symbol.asyncDispose]();
  }
}

function write(report: Report, flags: ConformanceFlags, stdout: number): void {
  if (flags.junit !== undefined) writeFileSync(flags.junit, junitOf(report));
  const text = flags.json ? `${JSON.stringify(report, null, 2)}\n` : tableOf(report);
  if (stdout === process.stdout.fd) process.stdout.write(text);
  else writeFileSync(stdout, text);
}

function choose(pattern: string | undefined): readonly Requirement[] {
  if (pattern === undefined) return requirements;
  const wanted = pattern.toUpperCase();
  const chosen = requirements.filter(({ id }) => id.includes(wanted));
  if (chosen.length === 0) throw usageError(`--only: no requirement has ${pattern} in its id; ids are like CX-TOOL-01`);
  return chosen;
}

function only(expected: Readonly<Record<string, string>>, chosen: readonly Requirement[]): Record<string, string> {
  const ids = new Set(chosen.map(({ id }) => id));
  return Object.fromEntries(Object.entries(expected).filter(([id]) => ids.has(id)));
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw usageError(`--expected: ${messageOf(error)}`, error);
  }
}

function milliseconds(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw usageError('--deadline: give milliseconds, a whole number above 0');
  return value;
}

function progress({ id, status }: Finding): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${id} ${status}`);
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
}
