import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import { webhooks } from '../../src/entries/peers/nodes.ts';
import { createHost, LlmAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

// A program whose turn ends, and that sends its outcome: it does not come back from that.

const [path = '', url = '', secret = ''] = process.argv.slice(2);
const host = createHost({
  app: 'shop',
  userId: 'ann',
  agents: [new LlmAgent({ name: 'bot', model: new ScriptedModel(['done']) })],
  store: openSqlite(path),
  outcomes: webhooks({ crm: { url, secret, private: true, timeoutMs: 60_000 } }),
});
await host.submit('bot', 'go', { sessionId: 's', create: true, webhook: 'crm' });
