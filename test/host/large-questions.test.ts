import { describe, expect, test } from 'vitest';
import type { AgentCallContext, AgentEvent, ReportedRequest } from '../../src/contracts/index.ts';
import { createHost, rulePolicy } from '../../src/index.ts';
import { whyTooLong } from '../../src/session/index.ts';
import { lyingExecutor } from '../../src/testing/index.ts';
import { all, bot, endOf, hostOf, ofType, only, ownTool, policyOf, results, say, tool } from './kit.ts';

/** JSON of so many characters, with the braces and the name. */
const filled = (name: string, chars: number) => ({ [name]: 'q'.repeat(chars - JSON.stringify({ [name]: '' }).length) });
type Asking = Pick<AgentCallContext, 'requestConfirmation' | 'requestCredential' | 'confirmation'>;

const tooLarge = /what is asked with has 100001 characters of JSON; give at most 100000/;

describe('ATK3-14 what is put before a person has a size', () => {
  const hint = filled('hint', 100_000).hint as string;
  const payload = { payload: filled('of', 100_000 - '{"payload":}'.length) };
  const kinds: [string, (context: Asking, more: string) => void][] = [
    ['hint', (context, more) => context.requestConfirmation({ hint: hint + more })],
    ['payload', (context, more) => context.requestConfirmation({ payload: { of: `${payload.payload.of}${more}` } })],
  ];
  const ways = ['host', 'agent'] as const;

  test.each(kinds.flatMap(([name, ask]) => ways.map((whose) => [name, whose, ask] as const)))(
    'the %s of a confirmation that a tool of the %s asks for: at the bound it is asked, above it its handler fails',
    async (_, whose, ask) => {
      for (const more of ['', 'q']) {
        const execute = (_args: unknown, context: Asking) => {
          if (!context.confirmation) ask(context, more);
          return 'done';
        };
        const own = whose === 'agent';
        const asks = own ? ownTool('pay', execute as never) : tool('pay', execute as never);
        const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'end'], own ? { tools: [asks] } : {}), {
          ...(own ? {} : { tools: [asks as never] }),
          policy: policyOf({}),
        });
        const session = await host.open('bot');
        const events = await say(session, 'go');
        if (more === '') {
          expect(endOf(events).reason).toBe('input_required');
          expect(await only(session)).toMatchObject({ name: 'pay' });
        } else {
          expect(endOf(events).reason).toBe('completed');
          expect(results(events).pay).toMatch(tooLarge);
          expect(ofType(events, 'elicitation_request')).toEqual([]);
        }
        await host.close();
      }
    },
  );

  test('so has what is said of a credential that is asked for', async () => {
    for (const more of ['', 'q']) {
      const scopes = ['s'.repeat(100_000 - '{"key":"k","scopes":[""]}'.length) + more];
      const signIn = ownTool('sign_in', (_args, context) => {
        context.requestCredential({ key: 'k', scopes });
        return 'done';
      });
      const { host } = hostOf(bot([{ calls: [['sign_in', {}]] }, 'end'], { tools: [signIn] }), {
        policy: policyOf({}),
      });
      const events = await say(await host.open('bot'), 'go');
      if (more === '') expect(endOf(events).reason).toBe('input_required');
      else expect(results(events).sign_in).toMatch(tooLarge);
      await host.close();
    }
  });

  test.each(['message', 'requestedSchema', 'context', 'whatever'])(
    'a question of another executor whose %s is too long is shown nowhere, and its calls are judged all the same',
    async (member) => {
      const long = 'z'.repeat(100_001);
      const value = {
        message: long,
        requestedSchema: { type: 'object', title: long },
        context: { long },
        whatever: [long],
      }[member];
      const question = {
        kind: 'elicitation',
        elicitation: 'clarification',
        requestId: 'q1',
        message: 'Which?',
        [member]: value,
      };
      let shown = 0;
      const liar = lyingExecutor({
        calls: [{ id: 'c1', name: 'free', args: { long } }],
        lies: {
          open: (open) => [
            ...open,
            { ...(open[0] as ReportedRequest), ...question, callId: undefined, name: undefined },
          ],
          event(event) {
            if (event.type !== 'tool_request' || shown++ > 0) return event;
            return { ...event, ...question, type: 'elicitation_request' } as unknown as AgentEvent;
          },
        },
      });
      const warnings: string[] = [];
      const ran: unknown[] = [];
      const host = createHost({
        app: 'shop',
        agents: [liar],
        tools: [tool('free', () => String(ran.push(1)))],
        policy: rulePolicy([{ tool: 'free', outcome: 'allow' }]),
        warn: (message) => void warnings.push(message),
      });
      const session = await host.open('liar', { sessionId: 's' });
      const events = await all(session.stream('go'));
      expect(JSON.stringify(ofType(events, 'elicitation_request'))).not.toContain('zzz');
      expect((await session.pending()).map(({ requestId }) => requestId)).not.toContain('q1');
      expect(await host.approvals.list()).toEqual([]);
      expect(warnings.join()).toContain('it may have 100000');
      expect(ran).toHaveLength(1);
      await host.close();
    },
  );
});

test('ATK3-14 what is too deep to be written as JSON is over every bound, and what is no JSON is counted where it is refused', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 200_000; level++) deep = [deep];
  expect(whyTooLong({ message: 'Which?', requestedSchema: deep })).toContain('it may have 100000');
  expect(whyTooLong(1n)).toBeUndefined();
});
