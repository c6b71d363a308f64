import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** Who holds a lease, so that another process can prove its death without a clock. */
export interface Owner {
  host: string;
  /** Changes with each start of the machine; empty where the system has none (anything but Linux). */
  boot: string;
  pid: number;
  /** When the process started, in the system's own words; empty if they are not to be had. */
  start: string;
  /** Tells the leases of one process apart. */
  lease: string;
}

let boot: string | undefined;
let ownStart: string | undefined;

export function thisProcess(lease: string, host: string = hostname()): Owner {
  ownStart ??= processStart(process.pid) ?? '';
  return { host, boot: bootId(), pid: process.pid, start: ownStart, lease };
}

/**
 * True if the owner's process has certainly ended: its machine was started anew, or its pid is free, or is another
 * process's by now. Processes of another host cannot be judged: false.
 *
 * On Linux a process is its pid and its start in clock ticks since boot. On other Unix systems the start is what
 * `ps` says, to the second. On Windows only the pid counts, so a lease whose holder died stays taken while an
 * unrelated process has that pid.
 */
export function isDead(owner: Owner, host: string = hostname()): boolean {
  if (owner.host !== host) return false;
  const here = bootId();
  if (owner.boot !== '' && here !== '' && owner.boot !== here) return true;
  const start = owner.pid === process.pid ? thisProcess('').start : processStart(owner.pid);
  if (start === undefined) return !answers(owner.pid);
  return start === 'ended' || (start !== '' && owner.start !== '' && start !== owner.start);
}

export function parseOwner(text: string): Owner | undefined {
  try {
    const owner = JSON.parse(text) as Owner;
    return typeof owner.host === 'string' && Number.isSafeInteger(owner.pid) ? owner : undefined;
  } catch {
    return undefined;
  }
}

function bootId(): string {
  boot ??= readText('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
  return boot;
}

/** Start of a process; `ended` for one that waits to be collected; undefined if it is not to be seen. */
function processStart(pid: number): string | undefined {
  if (process.platform === 'win32') return undefined;
  const stat = readText(`/proc/${pid}/stat`);
  if (stat !== undefined) {
    // The name in parentheses may hold anything, so fields are counted from its end: the next is the third.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? 'ended' : (fields[19] ?? '');
  }
  if (process.platform === 'linux') return undefined;
  try {
    const said = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return said.trim() || undefined;
  } catch {
    return undefined;
  }
}

function answers(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Anything but "no such process" (another user's, for one) means that there is one.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
