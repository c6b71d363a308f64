import { createWriteStream } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { EXIT } from './exit-code.ts';
import type { HostFlags, LimitFlags } from './flags.ts';
import { limitsOf } from './flags.ts';
import { closeQuietly, openWorkplace } from './host.ts';
import { onOwnStdout } from './own-stdout.ts';
import { Screen } from './screen.ts';
import type { Interrupts } from './signals.ts';

export type AcpFlags = HostFlags & LimitFlags;

/** `coxswain acp`: serves the agent to an editor on stdin and stdout, until it closes stdin. */
export function acpCommand(path: string, flags: AcpFlags, version: string, interrupts: Interrupts): Promise<number> {
  return onOwnStdout(interrupts, (fd) => serve(path, flags, version, fd, interrupts));
}

async function serve(
  path: string,
  flags: AcpFlags,
  version: string,
  fd: number,
  interrupts: Interrupts,
): Promise<number> {
  const { signal } = interrupts.start();
  const screen = new Screen();
  const [{ serveAcp }, work] = await Promise.all([
    import('../adapters/acp/index.ts'),
    openWorkplace(path, flags, { screen, interrupts, asksElsewhere: true }),
  ]);
  interrupts.outlive(work.warn);
  try {
    const server = await serveAcp(
      {
        name: work.agent,
        version,
        limits: limitsOf(flags),
        open: ({ sessionId }) => work.host.open(work.agent, sessionId === undefined ? {} : { sessionId }),
        list: (page) => work.host.sessions(flags.user).list(page),
        warn: (message) => screen.line(`coxswain: warning: ${message}`),
      },
      {
        input: Readable.toWeb(process.stdin) as unknown as ReadableStream<Uint8Array>,
        output: Writable.toWeb(createWriteStream('', { fd })) as WritableStream<Uint8Array>,
      },
    );
    signal.addEventListener('abort', () => void server.close(), { once: true });
    await server.closed;
    return signal.aborted ? EXIT.aborted : EXIT.done;
  } finally {
    await closeQuietly(work);
  }
}
