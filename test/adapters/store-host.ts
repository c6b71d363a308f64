import { openStore } from '../../src/adapters/stores/open-store.ts';
import type { AgentHost } from '../../src/index.ts';
import { createHost, LlmAgent } from '../../src/index.ts';
import type { SessionService } from '../../src/runtime/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

/** A host on a store, with one agent that may pay if it is allowed to. */
export function payingHost(
  sessions: SessionService,
  answers: readonly Script[],
  paid: (eur: unknown) => void,
): AgentHost {
  const agent = new LlmAgent({ name: 'clerk', model: new ScriptedModel({ responses: answers, strict: true }) });
  return createHost({
    app: 'shop',
    agents: [agent],
    store: sessions,
    userId: 'ann',
    tools: [
      {
        name: 'pay',
        description: 'Pays.',
        inputSchema: { type: 'object', properties: { eur: { type: 'number' } }, required: ['eur'] },
        execute: async (args) => {
          paid((args as { eur: unknown }).eur);
          return { paid: true };
        },
      },
    ],
  });
}

if (import.meta.main) {
  // Asks for an approval, says so and waits for its end.
  const [url = ''] = process.argv.slice(2);
  const host = payingHost(await openStore(url), [{ calls: [['pay', { eur: 5 }]] }], () => console.log('paid'));
  const session = await host.open('clerk');
  let end = '';
  for await (const event of session.stream('Pay 5 EUR.')) if (event.type === 'stream_end') end = event.reason;
  console.log(`${session.id} ${end}`);
  process.stdin.resume();
}
