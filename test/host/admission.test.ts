import { expect, test } from 'vitest';
import { createHttp } from '../../src/host/http/index.ts';
import { Entrance } from '../../src/host/terms/admission.ts';
import type { HostOptions } from '../../src/index.ts';
import { client, serving } from '../websocket/kit.ts';
import { all, bot, door, endOf, hostOf, policyOf, refusal, slowTool } from './kit.ts';

const full = { status: 'UNAVAILABLE', code: 'E_FULL' };

function program(admission: HostOptions['admission'], script = 3) {
  const slow = slowTool('slow');
  const steps = Array.from({ length: script }, () => [{ calls: [['slow']] as [string][] }, 'done']).flat();
  const { host } = hostOf(bot(steps), {
    tools: [slow.tool],
    policy: policyOf({}),
    ...(admission ? { admission } : {}),
  });
  return { host, slow };
}

test('AD-01 as many turns as are let in run; another one is refused, and let in when one has ended', async () => {
  const { host, slow } = program({ turns: 1, retryAfterMs: 2500 });
  const one = await host.open('bot');
  const two = await host.open('bot');
  const running = all(one.stream('go'));
  await slow.started;
  expect(await refusal(all(two.stream('go')))).toMatchObject({
    ...full,
    message: expect.stringContaining('1 turns run, of 1 at most; try again after 2500 ms'),
  });
  slow.finish('ok');
  expect(endOf(await running).reason).toBe('completed');
  expect(endOf(await all(two.stream('go'))).reason).toBe('completed');
  await host.close();
});

test('AD-02 what goes on is let in, and a turn that waits for a person takes no place', async () => {
  const { host } = hostOf(bot([{ calls: [['pay']] }, 'done', 'hello', 'done']), {
    tools: [{ name: 'pay', description: 'pays', inputSchema: { type: 'object' }, execute: () => 'paid' }],
    policy: policyOf({ pay: 'ask' }),
    admission: { turns: 1 },
  });
  const one = await host.open('bot');
  expect(endOf(await all(one.stream('go'))).reason).toBe('input_required');
  const two = await host.open('bot');
  expect(endOf(await all(two.stream('go'))).reason).toBe('completed');
  const [question] = await one.pending();
  await one.respond(question?.requestId ?? '', 'approve');
  expect(endOf(await all(one.stream({ kind: 'continue' }))).reason).toBe('completed');
  await host.close();
});

test('AD-03 memory: nothing new is begun above the limit', async () => {
  const entrance = new Entrance({ memoryBytes: 1000 }, () => 1001);
  expect(await refusal((async () => entrance.admit())())).toMatchObject({
    ...full,
    message: expect.stringContaining('1001 bytes of memory are used, of 1000 at most'),
  });
  const { host } = program({ memoryBytes: 1 });
  expect(await refusal(all((await host.open('bot')).stream('go')))).toMatchObject(full);
  await host.close();
});

test('AD-04 over HTTP it is 503 with Retry-After, over a socket a typed error that can be retried, in the metrics a count', async () => {
  const { host, slow } = program({ turns: 1, retryAfterMs: 2500 });
  const session = await host.open('bot');
  const running = all(session.stream('go'));
  await slow.started;
  const front = createHttp(host, { authenticate: () => ({ id: 'ann' }) });
  const post = (path: string, body: object) =>
    front(
      new Request(`http://127.0.0.1/v1/agents/bot/sessions${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer x' },
        body: JSON.stringify(body),
      }),
    );
  expect((await post('', { sessionId: 'h', create: true })).status).toBe(200);
  const answer = await post('/h/messages', { input: 'go' });
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '3']);
  expect(await answer.json()).toMatchObject({
    error: { code: 'E_FULL', retryable: true, details: { retryAfterMs: 2500 } },
  });
  const server = await serving(host);
  const remote = await client(server, 'ann');
  const over = await remote.open('bot', { sessionId: 'r', create: true });
  expect(await refusal(all(over.stream('go')))).toMatchObject(full);
  const metrics = await (await fetch(server.url.replace('ws', 'http').replace('/v1', '/metrics'))).text();
  expect(metrics.split('\n')).toEqual(
    expect.arrayContaining(['coxswain_turns_refused_total 1', 'coxswain_turns_full_total 1']),
  );
  slow.finish('ok');
  await running;
  await front.close();
});

test('AD-05 a turn that nobody waits for is stored, and begins when there is room', async () => {
  const { host, slow } = program({ turns: 1, retryAfterMs: 1 });
  const session = await host.open('bot');
  const running = all(session.stream('go'));
  await slow.started;
  const work = await host.work({ lookMs: 20 });
  const { sessionId } = await host.submit('bot', 'go', { sessionId: 's', create: true });
  const { opened, open } = door();
  const waiting = await host.open('bot', { sessionId });
  void (async () => {
    for await (const event of waiting.events({ live: true })) if (event.type === 'stream_end') return open();
  })();
  expect((await host.sessions().load(sessionId))?.events.length).toBe(1);
  slow.finish('ok');
  await running;
  await opened;
  await work.stop();
  await host.close();
});
