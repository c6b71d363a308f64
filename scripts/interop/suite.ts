import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Trial } from './subject.ts';

const run = promisify(execFile);

/** The protocol's own suite. */
export const SUITE = { '@modelcontextprotocol/conformance': '0.2.0-alpha.12' } as const;
export const REVISIONS = ['2025-11-25', '2026-07-28'] as const;

/** What one run of it reported, whatever its exit code. */
export async function suite({ bin, folder }: Trial, args: readonly string[]): Promise<string> {
  const main = bin('@modelcontextprotocol/conformance');
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' };
  const outcome = run(process.execPath, [main, ...args], { cwd: folder, env, maxBuffer: 2 ** 26 });
  return outcome.then(
    ({ stdout, stderr }) => stdout + stderr,
    (error: { stdout?: string; stderr?: string }) => `${error.stdout}${error.stderr}`,
  );
}

/** All scenarios of clients that the suite has for a revision of the protocol, those that it added later among them. */
export async function clientScenarios(trial: Trial, revision: string): Promise<string[]> {
  const listed = await suite(trial, ['list']);
  const clients = /Client scenarios[^\n]*\n((?: +- .*\n?)*)/.exec(listed)?.[1] ?? '';
  const found = [...clients.matchAll(/^ +- ([\w/.-]+) \[(.*)\]$/gm)];
  return found.filter(([, , of = '']) => of.includes(revision)).map(([, name = '']) => name);
}

/** Judges this package's toolset by one scenario: how many checks there were, or what failed. */
export async function asClient(
  trial: Trial,
  revision: string,
  scenario: string,
): Promise<{ checks: number; failed: string | undefined }> {
  const command = `${process.execPath} ${join(import.meta.dirname, 'suite-client.ts')}`;
  const args = ['--command', command, '--scenario', scenario, '--spec-version', revision, '--timeout', '120000'];
  const report = await suite(trial, ['client', ...args]);
  const [, passed = '', checks = '0'] = /^Passed: (\d+)\/(\d+)/m.exec(report) ?? [];
  if (/OVERALL: PASSED/.test(report) && passed === checks) return { checks: Number(checks), failed: undefined };
  const which = /Failed Checks:\n([\s\S]*?)\n\n/.exec(report)?.[1] ?? report.slice(-300);
  return { checks: Number(checks), failed: `${scenario}: ${which}` };
}
