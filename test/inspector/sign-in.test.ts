import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import WebSocket from 'ws';
import type { ServeOptions } from '../../src/host/websocket/index.ts';
import { serve } from '../../src/host/websocket/index.ts';
import { bot, hostOf } from '../host/kit.ts';
import { Raw } from '../websocket/raw.ts';

const annas = 'token-of-anna-0123456789';
const key = new Uint8Array(32).fill(1);

/** A server with a page of one line. */
async function serving(options: ServeOptions = {}) {
  const files = mkdtempSync(join(tmpdir(), 'coxswain-page-'));
  mkdirSync(join(files, 'assets'));
  writeFileSync(join(files, 'index.html'), '<!doctype html><p>page');
  writeFileSync(join(files, 'assets', 'a.js'), 'export {};');
  const { host } = hostOf(bot(['hello']));
  const server = await serve(host, { ui: { files, key }, warn: () => {}, ...options });
  onTestFinished(async () => {
    await server.close({ deadlineMs: 0 });
    await host.close();
    rmSync(files, { recursive: true });
  });
  const origin = `http://127.0.0.1:${server.port}`;
  const post = (name: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${origin}/ui/${name}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', origin, ...headers },
    });
  return { server, origin, post };
}

const people: Pick<ServeOptions, 'authenticate'> = {
  authenticate: ({ token }) => (token === annas ? { id: 'anna', roles: ['boss'] } : undefined),
};
const cookieOf = (response: Response) => response.headers.get('set-cookie')?.split(';')[0] ?? '';

/** Status that an upgrade is refused with; 101: it is not. */
function upgrade(port: number, headers: Record<string, string>): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1`, 'coxswain.v1', { headers });
  return new Promise((resolve, reject) => {
    socket.on('open', () => {
      socket.close();
      resolve(101);
    });
    socket.on('unexpected-response', (_, { statusCode = 0 }) => resolve(statusCode));
    socket.on('error', (error) => (/Unexpected server response/.test(error.message) ? undefined : reject(error)));
  });
}

describe('the page of the inspector', () => {
  test('comes with a policy that lets nothing inline, foreign or framed in', async () => {
    const { origin } = await serving(people);
    const page = await fetch(`${origin}/ui/`);
    expect(await page.text()).toBe('<!doctype html><p>page');
    const policy = page.headers.get('content-security-policy') ?? '';
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "frame-ancestors 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ])
      expect(policy.split('; ')).toContain(part);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('access-control-allow-origin')).toBeNull();
    const asset = await fetch(`${origin}/ui/assets/a.js`, { headers: { 'accept-encoding': 'br' } });
    expect(asset.headers.get('content-encoding')).toBe('br');
    expect(await asset.text()).toBe('export {};');
    expect((await fetch(`${origin}/ui`, { redirect: 'manual' })).headers.get('location')).toBe('/ui/');
    for (const path of ['/ui/nothing', '/ui/../package.json', '/ui/%2e%2e/package.json', '/ui/assets/'])
      expect((await fetch(origin + path)).status).toBe(404);
  });

  test('a token becomes a cookie that no script reads and no other site sends; a wrong one does not', async () => {
    const { post, server, origin } = await serving(people);
    expect((await post('sign-in', { token: 'wrong' })).status).toBe(401);
    expect((await post('sign-in', {})).status).toBe(401);
    const signedIn = await post('sign-in', { token: annas });
    expect(await signedIn.json()).toEqual({ principal: { id: 'anna', roles: ['boss'] } });
    const cookie = signedIn.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/);
    expect(cookie).not.toContain(annas);
    expect(Buffer.from(cookie.split(/[=;]/)[1] ?? '', 'base64url').toString('latin1')).not.toContain(annas);
    const headers = { cookie: cookieOf(signedIn) };
    expect(await (await post('session', {}, headers)).json()).toEqual({ principal: { id: 'anna', roles: ['boss'] } });
    expect(await (await post('session', {})).json()).toEqual({});
    expect(await upgrade(server.port, { ...headers, origin })).toBe(101);
    // Behind a proxy that ends the encryption.
    const secure = await post('sign-in', { token: annas }, { origin: origin.replace('http', 'https') });
    expect(secure.headers.get('set-cookie')).toMatch(/; Secure$/);
  });

  test('a cookie counts for the page of this server alone: not for other ports, other sites, or where nobody says', async () => {
    const { post, server, origin } = await serving({ ...people, http: true });
    const headers = { cookie: cookieOf(await post('sign-in', { token: annas })) };
    const { port } = server;
    for (const other of [
      'http://127.0.0.1:1',
      'http://evil.example',
      'null',
      `http://127.0.0.1:${port}.evil.example`,
    ]) {
      expect(await upgrade(port, { ...headers, origin: other })).toBe(403);
      expect((await post('session', {}, { ...headers, origin: other })).status).toBe(403);
      expect((await post('sign-in', { token: annas }, { origin: other })).status).toBe(403);
    }
    expect(await upgrade(port, headers)).toBe(401);
    const agents = (more: Record<string, string>) => fetch(`${origin}/v1/agents`, { headers: { ...headers, ...more } });
    expect((await agents({})).status).toBe(401);
    expect((await agents({ 'sec-fetch-site': 'same-site' })).status).toBe(401);
    expect((await agents({ 'sec-fetch-site': 'cross-site' })).status).toBe(401);
    expect((await agents({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    // A form of another page.
    const form = await post('sign-in', { token: annas }, { 'content-type': 'text/plain' });
    expect(form.status).toBe(415);
    expect((await fetch(`${origin}/ui/session`, { method: 'POST', body: '{}' })).status).toBe(403);
  });

  test('a page that calls the server by a name that it does not know is refused', async () => {
    const { post } = await serving(people);
    expect((await post('session', {}, { host: 'evil.example', origin: 'http://evil.example' })).status).toBe(403);
  });

  test('nothing is taken from an address: no token, no code', async () => {
    const { server, origin } = await serving(people);
    expect((await fetch(`${origin}/v1?token=${annas}`, { headers: { authorization: 'Bearer' } })).status).toBe(400);
    const page = await fetch(`${origin}/ui/?token=${annas}`);
    expect(page.headers.get('set-cookie')).toBeNull();
    expect(server.token).toBeUndefined();
  });

  test('signing out voids the cookie; it opens a restarted server with the same key, and none with another', async () => {
    const first = await serving(people);
    const headers = { cookie: cookieOf(await first.post('sign-in', { token: annas })) };
    const value = headers.cookie.split('=')[1] ?? '';
    const again = await serving(people);
    const there = { cookie: `coxswain_ui_${again.server.port}=${value}` };
    expect(await (await again.post('session', {}, there)).json()).toMatchObject({ principal: { id: 'anna' } });
    const other = await serving({ ...people, ui: false });
    expect((await fetch(`${other.origin}/ui/`)).status).toBe(404);
    expect((await first.post('sign-out', {}, headers)).headers.get('set-cookie')).toMatch(/Max-Age=0/);
    expect(await (await first.post('session', {}, headers)).json()).toEqual({});
    for (const broken of ['', 'x', value.slice(0, -4), `${value.startsWith('A') ? 'B' : 'A'}${value.slice(1)}`]) {
      const cookie = `coxswain_ui_${again.server.port}=${broken}`;
      expect(await (await again.post('session', {}, { cookie })).json()).toEqual({});
    }
  });

  test('a token that is withdrawn opens nothing, whatever its cookie says', async () => {
    let isKnown = true;
    const { post, server, origin } = await serving({
      authenticate: ({ token }) => (isKnown && token === annas ? { id: 'anna' } : undefined),
    });
    const headers = { cookie: cookieOf(await post('sign-in', { token: annas })) };
    isKnown = false;
    expect(await upgrade(server.port, { ...headers, origin })).toBe(401);
  });

  test('ATK9-08 who signs out ends what other tabs have open, and so does the end of the cookie; others keep theirs', async () => {
    const { post, server, origin } = await serving({ ...people, http: true });
    const signedIn = async () => {
      const headers = { cookie: cookieOf(await post('sign-in', { token: annas })), origin };
      const tab = await Raw.open(`ws://127.0.0.1:${server.port}/v1`, { headers });
      await tab.ask('initialize', { protocolVersion: '1' });
      return { headers, tab };
    };
    const [one, two] = [await signedIn(), await signedIn()];
    const asked = { headers: { ...one.headers, accept: 'text/event-stream', 'sec-fetch-site': 'same-origin' } };
    const watched = await fetch(`${origin}/v1/approvals`, asked);
    expect(watched.status).toBe(200);
    await post('sign-out', {}, one.headers);
    expect((await one.tab.closed).code).toBe(4401);
    expect(await watched.text()).toContain('credentials were withdrawn');
    expect(await upgrade(server.port, one.headers)).toBe(401);
    expect((await two.tab.ask('ping', {})) as object).toEqual({});
    // After twelve hours.
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 13 * 3_600_000);
    onTestFinished(() => clock.mockRestore());
    two.tab.send({ id: 99, method: 'agents/list', params: {} });
    expect((await two.tab.closed).code).toBe(4401);
  });

  test('a code of the terminal signs one page in, once; five wrong ones void it', async () => {
    const { server, post } = await serving();
    const code = server.signInCode() ?? '';
    expect(code).toMatch(/^[A-Z2-9]{5}-[A-Z2-9]{5}$/);
    const signedIn = await post('sign-in', { code: code.toLowerCase() });
    expect(await signedIn.json()).toEqual({ principal: { id: 'local' } });
    expect((await post('sign-in', { code })).status).toBe(401);
    const next = server.signInCode() ?? '';
    for (let wrong = 0; wrong < 5; wrong++) expect((await post('sign-in', { code: 'AAAAA-AAAAA' })).status).toBe(401);
    expect((await post('sign-in', { code: next })).status).toBe(401);
    const bearer = await post('sign-in', { token: server.token ?? '' });
    expect(bearer.status).toBe(200);
    const { server: named } = await serving(people);
    expect(named.signInCode()).toBeUndefined();
  });

  test('E_UNSUPPORTED says what to do where the files are not; a key that is none is refused', async () => {
    const { host } = hostOf(bot(['hello']));
    await expect(serve(host, { ui: { files: tmpdir() } })).rejects.toMatchObject({ code: 'E_UNSUPPORTED' });
    await expect(serve(host, { ui: { key: new Uint8Array(8) } })).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
    await host.close();
  });

  test.each([
    ['no address', '{traceId}'],
    ['another scheme', 'javascript:alert("{traceId}")'],
    ['a file', 'file:///traces/{traceId}'],
    ['no place for the id', 'https://traces.example/'],
    ['a place of another name', 'https://traces.example/{trace}'],
    ['the id as its host', 'https://{traceId}.example/{traceId}'],
    ['no words', 7],
  ])('E_BAD_INPUT names the address of traces that cannot be one: %s', async (_, traceUrl) => {
    const { host } = hostOf(bot(['hello']));
    await expect(serve(host, { ui: { traceUrl: traceUrl as string } })).rejects.toMatchObject({
      code: 'E_BAD_INPUT',
      message: expect.stringMatching(/ui\.traceUrl .*https: or http: address with \{traceId\}/),
    });
    await host.close();
  });
});
