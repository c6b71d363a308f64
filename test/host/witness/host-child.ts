import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { connect } from '../../../src/adapters/remote/index.ts';
import { openStore } from '../../../src/adapters/stores/open-store.ts';
import type { RequestAnswer, SessionInput } from '../../../src/contracts/index.ts';
import { createHost, defineTool, rulePolicy } from '../../../src/index.ts';

// A host of its own process, over a store that outlives it, of an executor that is elsewhere. It does what it is told in
// lines, and says what has run and what became of it.

const [url = '', token = '', store = '', idempotent = ''] = process.argv.slice(2);
const say = (...words: string[]) => writeSync(1, `${words.join(' ')}\n`);
const finish = Promise.withResolvers<void>();
const remote = await connect(url, { token });
const host = createHost({
  app: 'shop',
  agents: remote.sources,
  store: await openStore(store),
  policy: rulePolicy([{ tool: 'pay', outcome: 'ask', approvers: { roles: ['boss'] } }]),
  tools: [
    defineTool({
      name: 'pay',
      description: 'Pays.',
      inputSchema: { type: 'object' },
      ...(idempotent === '' ? {} : { annotations: { idempotent: true } }),
      execute: async (args) => {
        say('runs', JSON.stringify(args));
        await finish.promise;
        return 'paid';
      },
    }),
  ],
  warn: (message) => say('warned', message),
});
const session = await host.open('liar', { sessionId: 's' });

async function stream(input: string | SessionInput): Promise<string> {
  for await (const event of session.stream(input)) if (event.type === 'stream_end') return event.reason;
  return 'no end';
}

async function answer(kind: 'approve' | 'deny'): Promise<string> {
  const by = { id: 'boss', roles: ['boss'] };
  const [asked] = (await session.pending()).filter(({ approval }) => approval);
  const given: RequestAnswer = kind === 'approve' ? { kind, by, args: { eur: 7 } } : { kind, by };
  return (await session.respond(asked?.requestId ?? '', given)).status;
}

const tasks: Record<string, () => Promise<string>> = {
  go: () => stream('go'),
  continue: () => stream({ kind: 'continue' }),
  yes: () => answer('approve'),
  no: () => answer('deny'),
  open: async () => (await session.pending()).map(({ requestId }) => requestId).join(),
};

say('ready');
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'finish') finish.resolve();
  else
    void tasks[line]?.().then(
      (came) => say(line, came),
      (error) => say(line, String(error)),
    );
}
