import { createInterface } from 'node:readline';

// A server over stdio that asks without an end once its tool is called, and reads no more.

const say = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const lines = createInterface({ input: process.stdin });
const serverInfo = { name: 'flood', version: '1' };

function flood(method: string): void {
  lines.close();
  process.stdin.pause();
  let n = 0;
  const go = () => {
    while (say({ id: `p${n++}`, method }));
    process.stdout.once('drain', go);
  };
  go();
}

lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line) as { id?: number; method: string; params?: { name?: string } };
  if (id === undefined) return;
  if (method === 'initialize') {
    say({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'tools/list') {
    say({ id, result: { tools: ['ping', 'roots'].map((name) => ({ name, inputSchema: { type: 'object' } })) } });
  } else if (method === 'tools/call') flood(params?.name === 'roots' ? 'roots/list' : 'ping');
  else say({ id, error: { code: -32_601, message: 'no' } });
});
