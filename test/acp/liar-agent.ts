import { createInterface } from 'node:readline';

// An agent without the SDK: the prompt is the question that it puts, and what it writes after a yes.

interface Line {
  id?: number | string;
  method?: string;
  params: { protocolVersion?: number; prompt: { text: string }[] };
  result?: { outcome?: { optionId?: string } };
}

const waiting = new Map<number | string, (line: Line) => void>();
let last = 0;

const send = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const sessionId = 'far';

function request(method: string, params: object): Promise<Line> {
  const id = `a${++last}`;
  send({ id, method, params: { sessionId, ...params } });
  return new Promise((resolve) => waiting.set(id, resolve));
}

const tell = (update: object) => send({ method: 'session/update', params: { sessionId, update } });

async function act(words: string): Promise<void> {
  const { call, writes } = JSON.parse(words) as { call: object; writes: [string, string][] };
  const options = [
    { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
    { optionId: 'no', name: 'Reject', kind: 'reject_once' },
  ];
  const toolCall = { toolCallId: 't1', status: 'pending', ...call };
  const { result } = await request('session/request_permission', { toolCall, options });
  if (result?.outcome?.optionId !== 'yes') return;
  tell({ sessionUpdate: 'tool_call_update', toolCallId: 't1', status: 'in_progress' });
  for (const [path, content] of writes) await request('fs/write_text_file', { path, content });
  tell({ sessionUpdate: 'tool_call_update', toolCallId: 't1', status: 'completed' });
}

createInterface({ input: process.stdin }).on('line', async (text) => {
  const line = JSON.parse(text) as Line;
  const { id, method, params } = line;
  if (method === undefined) return void waiting.get(id ?? '')?.(line);
  if (method === 'initialize')
    return void send({ id, result: { protocolVersion: params.protocolVersion, agentCapabilities: {} } });
  if (method === 'session/new') return void send({ id, result: { sessionId } });
  if (method === 'session/prompt') {
    await act(params.prompt.at(-1)?.text ?? '');
    return void send({ id, result: { stopReason: 'end_turn' } });
  }
  if (id !== undefined) send({ id, result: {} });
});
