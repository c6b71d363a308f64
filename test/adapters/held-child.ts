import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { openStore } from '../../src/adapters/stores/open-store.ts';
import { shapesHost } from './held-host.ts';

// Another process on the same database. It runs turns that it is told of, each until it hears `finish`, and says what becomes
// of them in lines.

const [url = ''] = process.argv.slice(2);
const say = (line: string) => writeSync(1, `${line}\n`);
const waiting = new Map<string, () => void>();
const host = shapesHost(
  await openStore(url),
  async (sessionId) => {
    say(`started ${sessionId}`);
    await new Promise<void>((resolve) => waiting.set(sessionId, resolve));
  },
  100,
);

async function turn(shape: string, sessionId: string): Promise<void> {
  const session = await host.open(shape, { sessionId, create: true });
  const came: string[] = [];
  let end = '';
  try {
    for await (const event of session.stream('go')) {
      if (event.type === 'tool_response') came.push(`${event.name}=${event.errorType ?? 'ok'}`);
      if (event.type === 'stream_end') end = event.reason;
    }
  } catch (error) {
    end = String((error as { code?: unknown }).code);
  }
  say(`ended ${sessionId} ${end} ${came.toSorted().join()}`);
}

say('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const [task, shape = '', sessionId = ''] = line.split(' ');
  if (task === 'run') void turn(shape, sessionId);
  else if (task === 'finish') waiting.get(shape)?.();
}
process.exit();
