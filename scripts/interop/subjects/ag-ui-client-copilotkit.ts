import { serve } from '../../../src/host/websocket/index.ts';
import { shop } from '../shop.ts';
import { subject } from '../subject.ts';
import { hold } from '../under-gate.ts';

interface Client {
  HttpAgent: new (config: { url: string; headers?: Record<string, string> }) => object;
}

interface Copilot {
  CopilotRuntime: new (options: object) => object;
  createCopilotEndpoint(options: object): { fetch(request: Request): Response | Promise<Response> };
}

interface Sent {
  type: string;
  delta?: string;
  outcome?: { type: string; interrupts?: { id: string }[] };
}

export default subject({
  name: 'CopilotKit runtime',
  role: 'AG-UI client',
  packages: { '@copilotkit/runtime': '1.75.0' },
  async run({ check, file }) {
    process.env.COPILOTKIT_TELEMETRY_DISABLED = 'true';
    process.env.DO_NOT_TRACK = '1';
    const { HttpAgent } = (await import(file('@ag-ui/client/dist/index.mjs'))) as Client;
    const copilot = (await import(file('@copilotkit/runtime/dist/v2/index.mjs'))) as Copilot;
    const { paid, host } = shop();
    const server = await serve(host, { http: true });
    const agent = new HttpAgent({
      url: `${server.url.replace('ws', 'http')}/agents/clerk/ag-ui`,
      headers: { authorization: `Bearer ${server.token}` },
    });
    const runtime = new copilot.CopilotRuntime({ agents: { clerk: agent } });
    const app = copilot.createCopilotEndpoint({ runtime, basePath: '/api' });
    const run = async (threadId: string, input: object): Promise<Sent[]> => {
      const asked = { threadId, runId: crypto.randomUUID(), state: {}, messages: [], tools: [], context: [], ...input };
      const response = await app.fetch(
        new Request('http://127.0.0.1/api/agent/clerk/run', {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
          body: JSON.stringify({ ...asked, forwardedProps: {} }),
        }),
      );
      const text = await response.text();
      hold(response.status === 200, `${response.status} ${text.slice(0, 200)}`);
      return [...text.matchAll(/^data: (.*)$/gm)].map(([, line]) => JSON.parse(line ?? '') as Sent);
    };
    const said = (id: string, content: string) => ({ messages: [{ id, role: 'user', content }] });
    const asks = async (threadId: string, amount: number) => {
      const events = await run(threadId, said(`${threadId}-1`, `pay ${amount}`));
      const { outcome } = events.at(-1) ?? {};
      hold(outcome?.type === 'interrupt', JSON.stringify(events.at(-1)));
      return outcome?.interrupts?.[0]?.id ?? '';
    };
    const answered = (threadId: string, interruptId: string, approved: boolean) =>
      run(threadId, { resume: [{ interruptId, status: 'resolved', payload: { approved } }] });
    await check('shows what the agent says', async () => {
      const events = await run('a', said('m', 'hello'));
      const text = events.map(({ delta = '' }) => delta).join('');
      hold(text === 'hello', JSON.stringify(events));
      return events.map(({ type }) => type).join(' ');
    });
    await check('a payment is an interrupt, and runs once after a yes', async () => {
      const id = await asks('b', 5);
      hold(paid.length === 0, `paid: ${paid.join()}`);
      const events = await answered('b', id, true);
      hold(events.at(-1)?.outcome?.type === 'success' && paid.join() === '5', JSON.stringify(events));
      return events.map(({ type }) => type).join(' ');
    });
    await check('and not after a no', async () => {
      await answered('c', await asks('c', 6), false);
      hold(paid.join() === '5', `paid: ${paid.join()}`);
      return '';
    });
    await server.close({ deadlineMs: 0 });
    await host.close();
  },
});
