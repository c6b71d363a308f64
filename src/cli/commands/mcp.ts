import { randomBytes } from 'node:crypto';
import { createWriteStream, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import type { OpenQuestion } from '../../host/mcp/index.ts';
import type { Interrupts } from '../terminal/index.ts';
import { EXIT, onOwnStdout, Screen } from '../terminal/index.ts';
import type { HostFlags, LimitFlags } from '../workspace/index.ts';
import {
  closeQuietly,
  commandLine,
  DATA_FOLDER,
  DIGEST_LENGTH,
  dataFolder,
  fileOf,
  hostOptions,
  limitsFromFlags,
  openModuleHost,
  quote,
} from '../workspace/index.ts';

export type McpFlags = HostFlags & LimitFlags;

/** `coxswain mcp`: the agent as a tool over stdio. */
export function mcpCommand(path: string, flags: McpFlags, version: string, interrupts: Interrupts): Promise<number> {
  return onOwnStdout(interrupts, (fd) => serve(path, flags, version, fd, interrupts));
}

async function serve(
  path: string,
  flags: McpFlags,
  version: string,
  fd: number,
  interrupts: Interrupts,
): Promise<number> {
  const running = interrupts.start();
  const screen = new Screen();
  const [{ serveMcpStdio }, work] = await Promise.all([
    import('../../host/mcp/index.ts'),
    openModuleHost(path, flags, { screen, interrupts, asksElsewhere: true }),
  ]);
  interrupts.outlive(work.warn);
  try {
    const { store } = work;
    const server = await serveMcpStdio(work.host, {
      output: createWriteStream('', { fd }),
      version,
      limits: limitsFromFlags(flags),
      // In memory nobody else can ever answer.
      unanswerable: store.durable ? 'park' : 'deny',
      ...(store.durable ? { stateKey: stateKey(flags.store) } : {}),
      // Who reads it sits at a client that started this process in a folder of its choice.
      settleAt: (question) => `cd ${quote(process.cwd())} && ${settleAt(question, path, flags)}`,
      warn: work.warn,
    });
    screen.line(`coxswain: ${work.agent} is served over MCP on stdio`);
    running.signal.addEventListener('abort', () => void server.close(), { once: true });
    await server.closed;
    return running.signal.aborted ? EXIT.aborted : EXIT.done;
  } finally {
    await closeQuietly(work);
  }
}

/** The command that settles a question, as it can be pasted. */
export function settleAt({ requestId, digest }: OpenQuestion, path: string, flags: HostFlags): string {
  const shown = digest?.slice(0, DIGEST_LENGTH);
  return commandLine(['approvals', 'approve', requestId], { agent: path, ...hostOptions(flags), digest: shown });
}

/**
 * The secret that lets an answer be taken after a restart, readable by its owner; made once for the folder that the
 * store is in, since a client starts this process in a folder of its choice, else for the current one.
 * @throws CoxswainError `FAILED_PRECONDITION / E_MCP_KEY`
 */
export function stateKey(store: string): string {
  const folder = dirname(resolve(fileOf(store) ?? 'here'));
  const file = join(basename(folder) === DATA_FOLDER ? folder : dataFolder(folder), 'mcp.key');
  const own = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    // Whoever comes first makes it, whole; all others read it.
    writeFileSync(own, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' });
    try {
      linkSync(own, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      rmSync(own, { force: true });
    }
    const key = readFileSync(file, 'utf8').trim();
    if (Buffer.byteLength(key) >= 32) return key;
  } catch (error) {
    throw new CoxswainError('FAILED_PRECONDITION', 'E_MCP_KEY', `${file} cannot be used: ${messageOf(error)}`);
  }
  const message = `${file} holds no secret of 32 bytes or more; delete it, and a new one is made (calls that wait for an answer are asked again)`;
  throw new CoxswainError('FAILED_PRECONDITION', 'E_MCP_KEY', message);
}
