import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { webhooks } from '../../src/adapters/nodes/index.ts';
import type { Outcomes } from '../../src/contracts/index.ts';
import type { Script } from '../../src/testing/scripted-model.ts';
import { bot, door, hostOf, policyOf, refusal } from '../host/kit.ts';
import type { MadePlace } from './schedules.ts';

export const secret = `whsec_${Buffer.from('a key of twenty-four byte').toString('base64')}`;

const pay = { name: 'pay', description: 'pays', inputSchema: { type: 'object' }, execute: () => 'paid' } as const;

/** Whichever program asks: the log says what was done. */
const paying: Script = ({ contents }) =>
  contents.some(({ parts }) => parts.some(({ type }) => type === 'function_response')) ? 'Paid.' : { calls: [['pay']] };

export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}

/** A receiver that answers one after the other with these, the last one from then on. */
export async function receiver(...statuses: number[]) {
  const got: Received[] = [];
  const waiting: { count: number; open: () => void }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (data) => {
      body += String(data);
    });
    request.on('end', () => {
      const status = statuses[Math.min(got.length, statuses.length - 1)] ?? 204;
      got.push({ headers: request.headers, body });
      if (status !== 0) response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end();
      for (const one of waiting) if (got.length >= one.count) one.open();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    got,
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}/hook`,
    async reached(count: number) {
      if (got.length >= count) return;
      const { opened, open } = door();
      waiting.push({ count, open });
      await opened;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** As a receiver does it. */
export function isSigned({ headers, body }: Received, key = secret): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const bytes = Buffer.from(key.slice('whsec_'.length), 'base64');
  const wanted = `v1,${createHmac('sha256', bytes).update(signed).digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(wanted);
}

/** What every dispatcher makes of outcomes that receivers are owed. */
export function outcomeSuite(name: string, make: () => Promise<MadePlace>): void {
  describe(`outcomes: ${name}`, { timeout: 60_000 }, () => {
    const closers: (() => Promise<void>)[] = [];
    afterEach(async () => {
      for (const close of closers.splice(0).reverse()) await close();
    });

    async function world(...statuses: number[]) {
      const made = await make();
      closers.push(made.close);
      const hook = await receiver(...statuses);
      closers.push(hook.close);
      const program = async ({
        works = true,
        asks = false,
        outcomes,
      }: {
        works?: boolean;
        /** Its turns ask for a payment, and the clock by which webhooks are due stands still. */
        asks?: boolean;
        outcomes?: Outcomes;
      } = {}) => {
        const store = await made.store();
        const dispatcher = await made.dispatcher?.();
        if (asks) Object.assign(store.journal, { now: async () => Date.UTC(2026, 10, 30, 9, 0) });
        const script: Script[] = asks ? [paying, paying] : ['Good day, Ann.', 'Again.'];
        const { host, warnings } = hostOf(bot(script), {
          store,
          ...(asks ? { tools: [pay], policy: policyOf({ pay: 'ask' }) } : {}),
          outcomes:
            outcomes ??
            webhooks({
              crm: { url: hook.url, secret, private: true },
              full: { url: hook.url, secret, private: true, answer: true },
              waits: { url: hook.url, secret, private: true, waits: true },
            }),
          ...(dispatcher ? { dispatcher } : {}),
        });
        closers.push(async () => {
          await host.close();
          await dispatcher?.close();
          await store.close?.();
        });
        if (works) await host.work({ lookMs: 100 });
        return { host, warnings };
      };
      return { hook, program };
    }

    test('OU-01 how a turn has ended is sent once, signed, by whichever program runs it; its words only where they are asked for', async () => {
      const { hook, program } = await world(204);
      const one = await program();
      await program();
      const turn = await one.host.submit('bot', 'Hello.', { userId: 'ann', webhook: 'crm' });
      await hook.reached(1);
      const [first] = hook.got;
      if (!first) throw new Error('nothing has come');
      expect([isSigned(first), isSigned({ ...first, body: `${first.body} ` })]).toEqual([true, false]);
      const { turnId, ...place } = turn;
      expect(JSON.parse(first.body)).toEqual({
        type: 'turn.ended',
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        data: { app: 'shop', ...place, turnId, reason: 'completed' },
      });
      expect(Math.abs(Number(first.headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60);
      await one.host.submit('bot', 'Hello.', { userId: 'ben', webhook: 'full' });
      await hook.reached(2);
      const ids = new Set(hook.got.map(({ headers }) => headers['webhook-id']));
      expect(ids.size).toBe(2);
      expect(JSON.parse(hook.got[1]?.body ?? '')).toMatchObject({
        data: { userId: 'ben', answer: expect.any(String) },
      });
    });

    test('OU-02 what a receiver has not taken is sent again, under the same id', async () => {
      const { hook, program } = await world(500, 204);
      const { host, warnings } = await program();
      await host.submit('bot', 'Hello.', { userId: 'ann', webhook: 'crm' });
      await hook.reached(2);
      const [first, second] = hook.got;
      expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
      expect(second?.body).toBe(first?.body);
      expect(warnings).toEqual([expect.stringMatching(/^webhook crm has not taken msg_\w+, try 1: it is sent again$/)]);
    });

    test('OU-03 a program that dies between its claim and the end of the delivery is followed by another one', async ({
      skip,
    }) => {
      if (name !== 'in one process') return skip('a look that never ends holds its place there: no program has died');
      const { hook, program } = await world(204);
      const begun = door();
      const held = door<'done'>();
      const ids: string[] = [];
      const dead = await program({
        outcomes: {
          names: ['crm'],
          takesAnswer: () => false,
          deliver: (_, { id }) => {
            ids.push(id);
            begun.open();
            return held.opened;
          },
        },
      });
      await dead.host.submit('bot', 'Hello.', { userId: 'ann', webhook: 'crm' });
      await begun.opened;
      const next = await program({ works: false });
      await next.host.recover();
      await hook.reached(1);
      expect(hook.got.map(({ headers }) => headers['webhook-id'])).toEqual(ids);
      held.open('done');
    });

    test('OU-04 a receiver that nobody knows is refused before anything is stored', async () => {
      const { program } = await world(204);
      const { host } = await program({ works: false });
      const thrown = await refusal(host.submit('bot', 'Hello.', { userId: 'ann', webhook: 'http://127.0.0.1/' }));
      expect([thrown.code, thrown.message]).toEqual([
        'E_BAD_INPUT',
        'submit: options.webhook: one of crm, full, waits',
      ]);
      expect(await host.unfinished()).toEqual([]);
    });

    test.each([
      ['decided on', 'completed'],
      ['answered and continued', 'completed'],
      ['aborted', 'aborted'],
    ] as const)(
      'NODE9-02 a turn that waits and is %s is sent at once, not with the next look at it',
      async (how, reason) => {
        const { hook, program } = await world(204);
        const { host } = await program({ asks: true });
        const front = await program({ asks: true, works: false });
        const { sessionId } = await host.submit('bot', 'Pay.', { userId: 'ann', webhook: 'waits' });
        // Its next look is due in two seconds of a clock that stands still.
        await hook.reached(1);
        const [open] = await front.host.approvals.list({ userId: 'ann' });
        const requestId = open?.request.requestId ?? '';
        if (how === 'decided on') {
          await front.host.approvals.decide(
            requestId,
            { kind: 'approve' },
            { by: { id: 'ann' }, sessionId, userId: 'ann' },
          );
        } else {
          await using session = await front.host.open('bot', { sessionId, userId: 'ann' });
          if (how === 'aborted') await session.abort();
          else {
            await session.respond(requestId, { kind: 'approve' });
            for await (const _ of session.stream({ kind: 'continue' }));
          }
        }
        await hook.reached(2);
        const bodies = hook.got.map(({ body }) => JSON.parse(body) as { type: string; data: { reason?: string } });
        expect(bodies.map(({ type, data }) => [type, data.reason])).toEqual([
          ['turn.waits', undefined],
          ['turn.ended', reason],
        ]);
      },
    );
  });
}
