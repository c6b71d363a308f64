import { describe, expect, test } from 'vitest';
import type { Principal, RequestAnswer } from '../../src/contracts/index.ts';
import { nameOfPrincipal } from '../../src/session/index.ts';
import { bot, hostOf, notingTool, only, policyOf, refusal, say } from '../host/kit.ts';
import { fronting, get, post } from '../http/kit.ts';
import { client, logOf, serving } from './kit.ts';

const of = (onBehalfOf?: string, roles?: string[]): Principal => ({
  id: 'gateway',
  ...(onBehalfOf === undefined ? {} : { onBehalfOf }),
  ...(roles ? { roles } : {}),
});
/** One program asks for everybody: its token names the person. */
const gateway = ({ token }: { token?: string }) => (token === 'itself' ? of() : of(token, ['clerk']));

function shop() {
  const pay = notingTool('pay');
  const policy = policyOf({ pay: 'ask' });
  const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'paid']), { tools: [pay.tool], policy });
  return { host, runs: pay.runs };
}

const approve: RequestAnswer = { kind: 'approve' };

describe('ATK3-01 people for whom one program asks', () => {
  test.each(['mallory', 'itself', 'anna~1x'])('%s reaches nothing that is anna’s, over a socket', async (other) => {
    const { host, runs } = shop();
    const server = await serving(host, { authenticate: gateway });
    const anna = await client(server, 'anna');
    const session = await anna.open('bot', { sessionId: 's', create: true });
    await say(session, 'my secret');
    const { requestId } = await only(session);
    const stranger = await client(server, other);
    expect(await stranger.approvals.list()).toEqual([]);
    const watched = stranger.approvals.watch();
    const first = watched.next();
    expect((await refusal(stranger.open('bot', { sessionId: 's' }))).code).toBe('E_SESSION_NOT_FOUND');
    for (const place of [{}, { sessionId: 's' }]) {
      const refused = await refusal(stranger.approvals.decide(requestId, approve, place));
      expect(['E_NOT_APPROVER', 'E_UNKNOWN_REQUEST']).toContain(refused.code);
    }
    expect(await stranger.sessions().list()).toEqual([]);
    await stranger.sessions().delete('s');
    // Their own of that id is another one.
    const own = await stranger.open('bot', { sessionId: 's', create: true });
    expect(await logOf(own)).toEqual([]);
    await watched.return?.();
    expect((await first).done).toBe(true);
    expect([runs, (await session.pending()).length]).toEqual([[], 1]);
    expect(await anna.approvals.list()).toHaveLength(1);
    await anna.approvals.decide(requestId, approve);
    await expect.poll(() => runs).toHaveLength(1);
  });

  test('a key of one is none of another’s: their own answer is stored', async () => {
    const pay = notingTool('pay');
    const policy = policyOf({ pay: { outcome: 'ask', approvers: { roles: ['clerk'], quorum: 2 } } });
    const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'paid']), { tools: [pay.tool], policy });
    const front = await fronting(host, { authenticate: gateway });
    const sessions = '/v1/agents/bot/sessions';
    await post(front, sessions, { sessionId: 's', create: true }, { token: 'anna' });
    await post(front, `${sessions}/s/messages`, { input: 'Pay.' }, { token: 'anna' });
    const asked = () => get(front, '/v1/approvals', { token: 'bert' });
    await expect.poll(async () => ((await asked()).body as { approvals: unknown[] }).approvals).toHaveLength(1);
    const [{ request }] = ((await asked()).body as { approvals: [{ request: { requestId: string } }] }).approvals;
    const decide = async (token: string) => {
      const body = { requestId: request.requestId, answer: approve };
      return (await post(front, '/v1/approvals/decide', body, { token, headers: { 'idempotency-key': 'k' } })).body;
    };
    expect(await decide('bert')).toMatchObject({ status: 'waiting_quorum' });
    expect(await decide('kim')).toMatchObject({ status: 'settled' });
    await expect.poll(() => pay.runs).toHaveLength(1);
  });

  test('what one has opened says nothing of the roles, or of the turn, of another', async () => {
    const asked: unknown[] = [];
    const look = notingTool('look');
    const policy = policyOf({
      look: ({ principal }) => {
        asked.push([principal?.onBehalfOf, principal?.roles]);
        return { outcome: 'allow' };
      },
    });
    const { host } = hostOf(bot([{ calls: [['look', {}]] }, 'seen']), { tools: [look.tool], policy });
    const session = await host.open('bot', { sessionId: 's', create: true, principal: of('anna', ['boss']) });
    await host.open('bot', { sessionId: 's', principal: of('kim', ['guest']) });
    await say(session, 'look');
    expect(asked).toEqual([['anna', ['boss']]]);
    await host.close();
  });

  test('the name of a principal is that of no other', () => {
    const parts = ['a', '~', '~0', '~1', 'a~1b', 'b~', ''];
    const all: Principal[] = parts.flatMap((id) => [{ id }, ...parts.map((onBehalfOf) => ({ id, onBehalfOf }))]);
    expect(new Set(all.map(nameOfPrincipal)).size).toBe(all.length);
    expect([nameOfPrincipal({ id: 'anna' }), nameOfPrincipal(of('anna'))]).toEqual(['anna', 'gateway~1anna']);
  });
});
