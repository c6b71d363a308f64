import { describe, expect, test } from 'vitest';
import type { AgentEvent, ReportedRequest, RequestAnswer } from '../../src/contracts/index.ts';
import { AnswerChecks } from '../../src/host/hosted/answer-checks.ts';
import type { Step } from '../../src/host/questions/step.ts';
import { call } from './judge-kit.ts';
import { refusal } from './kit.ts';

const ann = { id: 'ann' };
const boss = { id: 'bea', roles: ['boss'] };

/** A question of the agent about a call of its own. */
const own = (more: object = {}) =>
  call({ requestId: 'q', kind: 'elicitation', elicitation: 'tool_confirmation', handledBy: 'agent', ...more } as never);

/** What is asked of the judge, and read of the log, to check answers. */
function checksOf(step: Step = { kind: 'leave' }, { denied = false, log = [] as object[] } = {}) {
  const asked: string[] = [];
  const reads: unknown[] = [];
  const frame = {
    principal: ann,
    toolOf: () => undefined,
    holds: () => false,
    grounds: () => ({ principal: ann }),
    judge: {
      step: async () => {
        asked.push('step');
        return step;
      },
      obliges: async () => {
        asked.push('obliges');
        return denied ? 'denied' : {};
      },
    },
  };
  const inner = {
    async *events(options: { after?: string }) {
      reads.push(options);
      const { after } = options;
      const from = after === undefined ? 0 : log.findIndex((event) => (event as AgentEvent).cursor === after) + 1;
      yield* log.slice(from) as AgentEvent[];
    },
  };
  const ruling = { isBusy: () => false, judge: { whyNotEdited: async () => undefined } };
  return { made: new AnswerChecks(inner as never, frame as never, ruling as never), asked, reads, log };
}

describe('MUT-H35 a question of the agent about a call of its own', () => {
  const codeOf = async (request: ReportedRequest, answer: RequestAnswer, ...given: Parameters<typeof checksOf>) =>
    (await refusal(checksOf(...given).made.direct('q', request, answer))).code;
  const put = own({ questions: [{ requestId: 'q', approvers: { roles: ['boss'] } }] });
  const elicits: Step = { kind: 'elicit', request: put };
  const yes = { kind: 'approve' } as const;
  const accepts = { kind: 'elicitation', action: 'accept' } as const;
  const declines = { kind: 'elicitation', action: 'decline' } as const;
  const asks = { kind: 'ask', question: call({ requestId: 'c#policy' }) } as Step;

  test('is for those whom policy obliges to: whoever holds the session, unless the answer names another', async () => {
    expect(await codeOf(own(), yes, elicits)).toBe('E_NOT_APPROVER');
    expect(await codeOf(own(), { kind: 'deny' }, elicits)).toBe('E_NOT_APPROVER');
    const { made } = checksOf(elicits);
    expect(await made.direct('q', own(), { ...yes, by: boss })).toEqual({ ...yes, by: boss });
    // What was put under another id says nothing of this one.
    const other: Step = {
      kind: 'elicit',
      request: own({ questions: [{ requestId: 'p', approvers: { roles: ['x'] } }] }),
    };
    expect(await checksOf(other).made.direct('q', own(), yes)).toEqual(yes);
    expect(await checksOf().made.direct('q', own(), yes)).toEqual(yes);
  });

  test('is none where its host asks about the call', async () => {
    expect(await codeOf(own(), yes, asks)).toBe('E_WRONG_ANSWER');
    expect(await codeOf(own(), { kind: 'deny' }, asks)).toBe('E_WRONG_ANSWER');
  });

  test('takes no yes to what policy denies now, in whichever words; a no it takes, and asks nothing about that', async () => {
    const denied = { denied: true };
    const step: Step = { kind: 'leave' };
    expect([await codeOf(own(), yes, step, denied), await codeOf(own(), accepts, step, denied)]).toEqual([
      ...['E_REQUEST_CLOSED', 'E_REQUEST_CLOSED'],
    ]);
    for (const no of [{ kind: 'deny' }, declines] as const) {
      const { made, asked } = checksOf(step, denied);
      expect(await made.direct('q', own(), no)).toEqual(no);
      expect(asked).toEqual(['step']);
    }
    const { made, asked } = checksOf(step);
    expect([await made.direct('q', own(), accepts), asked]).toEqual([accepts, ['step', 'obliges']]);
  });

  test('is nobody’s but its own where it asks for a credential, or is not of its own call', async () => {
    const credential = checksOf(asks, { denied: true });
    expect(await credential.made.direct('q', own({ elicitation: 'auth_required' }), accepts)).toEqual(accepts);
    expect(credential.asked).toEqual([]);
    const host = checksOf(asks, { denied: true });
    expect(await host.made.direct('q', own({ handledBy: 'host' }), accepts)).toEqual(accepts);
    expect(host.asked).toEqual([]);
  });
});

describe('MUT-H36 what was asked before', () => {
  const event = (cursor: string, type: string, requestId: string) => ({ cursor, type, requestId });
  test('is known of the log, each event of which is read once; what is known is not looked for', async () => {
    const log = [event('1', 'elicitation_response', 'a#policy'), event('2', 'tool_response', 'b')];
    const { made, reads } = checksOf(undefined, { log });
    await made.wasAsked('a#policy');
    await made.wasAsked('a#policy');
    await made.wasAsked('b#policy.3');
    expect(reads).toStrictEqual([{}]);
    expect(await refusal(made.wasAsked('a#policy.1'))).toMatchObject({ code: 'E_UNKNOWN_REQUEST' });
    log.push(event('3', 'elicitation_response', 'c#policy'));
    await made.wasAsked('c#policy');
    expect(reads).toStrictEqual([{}, { after: '2' }, { after: '2' }]);
  });

  test('goes by the newest cursor, where some events have none', async () => {
    const log: object[] = [event('1', 'elicitation_response', 'a#policy'), { type: 'custom' }];
    const { made, reads } = checksOf(undefined, { log });
    await made.wasAsked('a#policy');
    await refusal(made.wasAsked('x#policy'));
    expect(reads).toStrictEqual([{}, { after: '1' }]);
  });
});
