import { Writable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import { serveAcp } from '../adapters/acp/index.ts';
import { EXIT } from './exit-code.ts';
import type { HostFlags } from './flags.ts';
import { closeQuietly, openWorkplace } from './host.ts';
import { Screen } from './screen.ts';
import type { Interrupts } from './signals.ts';

/** `coxswain acp`: serves the agent to an editor on stdin and stdout, until it closes stdin. */
export async function acpCommand(path: string, flags: HostFlags, interrupts: Interrupts): Promise<number> {
  // Stdout belongs to the protocol: whatever else writes there, agent modules included, goes to stderr.
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
  const screen = new Screen();
  const work = await openWorkplace(path, flags, { screen, interrupts, asksElsewhere: true });
  const { signal } = interrupts.start();
  try {
    const server = await serveAcp(
      {
        name: work.agent,
        open: ({ sessionId }) => work.host.open(work.agent, sessionId === undefined ? {} : { sessionId }),
        warn: (message) => screen.line(`coxswain: warning: ${message}`),
      },
      { input: stdin(), output: stdout(write) },
    );
    const stop = () => void server.close();
    signal.addEventListener('abort', stop, { once: true });
    await server.closed;
    return signal.aborted ? EXIT.aborted : EXIT.done;
  } finally {
    interrupts.over();
    await closeQuietly(work);
  }
}

function stdin(): globalThis.ReadableStream<Uint8Array> {
  const chunks = process.stdin[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(new Uint8Array(value as Buffer));
    },
  }) as globalThis.ReadableStream<Uint8Array>;
}

function stdout(write: typeof process.stdout.write): WritableStream<Uint8Array> {
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      write(chunk, () => done());
    },
  });
  return Writable.toWeb(sink) as WritableStream<Uint8Array>;
}
