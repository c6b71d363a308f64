import { describe, expect, test } from 'vitest';
import type { AgentEvent, PolicyRequest, Principal, ReportedRequest } from '../../src/contracts/index.ts';
import { CoxswainError } from '../../src/contracts/index.ts';
import { explainCall } from '../../src/host/approvals/explain-call.ts';
import type { KnownQuestion } from '../../src/host/approvals/known-questions.ts';
import type { ApprovalHost, OpenApproval } from '../../src/host/approvals/open-sessions.ts';
import { ofCall, outcomeOf } from '../../src/host/approvals/outcome.ts';
import { rulePolicy } from '../../src/index.ts';
import { call } from './judge-kit.ts';
import { all, refusal } from './kit.ts';

const ann = { id: 'ann' };
const bea = { id: 'bea', roles: ['boss'] };
const place = { agent: 'bot', userId: 'ann', sessionId: 's' };
const at = '2026-01-01T00:00:00.000Z';
const event = (type: string, more: object) => ({ type, id: 'e', timestamp: at, sessionId: 's', ...more });
const asked = (more: object = {}) =>
  event('tool_request', { requestId: 'c', name: 'pay', args: { eur: 5, card: '1234' }, agentId: 'bot', ...more });
const answered = event('tool_response', { requestId: 'c', name: 'pay', content: [] });
const decided = (data: object) =>
  event('custom', { kind: 'policy_decision', data: { callId: 'c', outcome: 'approved', by: 'policy', ...data } });
const rules = () =>
  rulePolicy([
    { id: 'small', tool: 'pay', args: { '/eur': { type: 'number', maximum: 10 } }, outcome: 'allow' },
    { id: 'cards', tool: 'pay', args: { '/card': '^9' }, outcome: 'deny' },
  ]);

interface Given {
  pending?: ReportedRequest[];
  log?: object[];
  word?: object;
  policy?: object;
  isGone?: boolean;
  toolOf?: () => object | undefined;
}

/** A host over one session; what policy's word was asked on is noted. */
function hostOf({ pending = [], log = [], word = {}, policy = rules(), isGone = false, toolOf }: Given = {}) {
  const words: unknown[][] = [];
  const session = {
    inner: { pending: async () => pending },
    subagents: undefined,
    frame: { rules: policy, toolOf: toolOf ?? (() => undefined) },
    judge: {
      word: async (request: ReportedRequest, tool: unknown, args: object, by: Principal) => {
        words.push([request.callId, tool, args, by.id]);
        const asks: PolicyRequest = { action: 'pay', args: args as Record<string, unknown>, principal: ann };
        return { request: asks, decision: { outcome: 'ask', redact: ['/card'] }, isForOthers: false, ...word };
      },
    },
    async *history() {
      yield* log as AgentEvent[];
    },
  };
  const host = {
    borrow: async () => {
      if (isGone) throw new CoxswainError('NOT_FOUND', 'E_SESSION_NOT_FOUND', 'gone');
      return { session, [Symbol.asyncDispose]: async () => {} };
    },
  } as unknown as ApprovalHost;
  return { host, words };
}

const request = { requestId: 'c#policy', sessionId: 's', args: { eur: 5, card: '1234' } };
const forBosses = { approval: { approvers: { roles: ['boss'] } } };
const openFor = (more: object = {}) =>
  ({ agent: 'bot', userId: 'ann', request: { ...request, ...more } }) as unknown as OpenApproval;
const knownFor = (approvers?: object): KnownQuestion => ({
  ...{ ...place, requestId: 'c#policy' },
  request: { requestId: 'c#policy', ...(approvers ? { approvers } : {}) },
});

const explained = (given: Given, more: object = {}) =>
  explainCall(hostOf(given).host, {
    ...{ requestId: 'c#policy', by: ann, place, args: undefined, open: undefined, known: undefined, everything: false },
    ...more,
  });

describe('MUT-H50 what policy says of a call that is open', () => {
  const pending = [call({ callId: 'c', requestId: 'c', args: { eur: 5, card: '1234' } } as never)];

  test('is said with its rules to who may answer, of what their question shows', async () => {
    const { host, words } = hostOf({ pending, word: { decision: { outcome: 'allow' } } });
    const said = await explainCall(host, {
      ...{ requestId: 'c#policy', by: ann, place, args: undefined, open: openFor({ args: { eur: 6 } }) },
      ...{ known: undefined, everything: false },
    });
    expect(said).toMatchObject({ decision: { outcome: 'allow' }, args: { eur: 6 }, principal: ann, agentPath: [] });
    expect(said?.rules?.map(({ id, spoke }) => [id, spoke])).toEqual([
      ['small', true],
      ['cards', false],
    ]);
    expect(words).toEqual([['c', undefined, { eur: 6 }, 'ann']]);
    for (const none of ['unfit', 'isForOthers', 'incomplete', 'mode']) expect(said).not.toHaveProperty(none);
  });

  test('is tried on other arguments for who may answer, and by who sees everything; for others it is refused', async () => {
    const args = { eur: 50, card: '1234' };
    const word = { unfit: 'too much', isForOthers: true };
    const said = await explained({ pending, word }, { args, open: openFor() });
    // What their question shows is theirs to see.
    expect(said).toMatchObject({ args, unfit: 'too much', isForOthers: true });
    const others = { args, open: openFor(forBosses) };
    expect(await refusal(explained({ pending, log: [asked()] }, others))).toMatchObject({ code: 'E_NOT_APPROVER' });
    expect(await explained({ pending, log: [asked()] }, { ...others, by: bea })).toMatchObject({ args });
    const everything = await explained({ pending, log: [asked()] }, { ...others, everything: true });
    expect(everything?.rules).toHaveLength(2);
  });

  test('is the decision alone for others, without what is hidden from them', async () => {
    const said = await explained({ pending, log: [asked()] }, { open: openFor(forBosses) });
    expect(said?.decision).toMatchObject({ outcome: 'ask' });
    expect(said).not.toHaveProperty('rules');
    expect(JSON.stringify(said)).not.toContain('1234');
    const closed = await explained({ pending, log: [asked()] }, { known: knownFor() });
    expect(closed?.rules).toHaveLength(2);
    expect(JSON.stringify(closed)).not.toContain('1234');
    expect((await explained({ pending, log: [asked()] }, {}))?.rules).toBeUndefined();
  });
});

describe('MUT-H53 what is hidden of a call', () => {
  const args = { eur: 50, card: '1234' };
  const hidden = { eur: 50, card: '[redacted]' };
  const log = (more: object = {}) => [asked({ args }), decided({ asked: facts, ...more })];
  const facts = { agentPath: ['bot'], interactive: true };
  const known = knownFor();

  test('by policy now, or when it was decided on, is not in its arguments, nor in why rules do not apply', async () => {
    const pending = [call({ callId: 'c', requestId: 'c', args } as never)];
    const now = await explained({ pending, log: log() }, { known });
    expect(now?.args).toEqual(hidden);
    const shown = await explained({ pending, log: log(), word: { decision: { outcome: 'ask' } } }, { known });
    expect(shown?.args).toEqual(args);
    const then = await explained({ log: [...log({ redact: ['/card'] }), answered] }, { known });
    expect(then?.args).toEqual(hidden);
    const whys = [now, shown, then].map((one) => JSON.stringify(one?.rules).includes('1234'));
    expect(whys).toEqual([false, true, false]);
    expect(then?.rules?.map(({ spoke }) => spoke)).toEqual([false, false]);
  });

  test('and in which mode another word holds, is said', async () => {
    const mode = { asked: { ...facts, permissionMode: 'plan' }, args: { eur: 5 } };
    const said = await explained({ log: [...log(mode), answered] }, { known });
    expect(said?.mode).toMatchObject({ name: 'plan', without: { outcome: 'allow' } });
    expect(said?.decision.outcome).toBe('deny');
  });
});

describe('MUT-H51 what policy says of a call that is over', () => {
  const with_ = (data: object) => [asked(), decided(data), answered];
  test('is of what it was asked then, by the newest word that says so', async () => {
    const log = with_({ asked: { agentPath: ['bot', 'x'], interactive: true, principal: bea }, args: { eur: 1 } });
    const known = knownFor();
    const said = await explained({ log }, { known });
    expect(said).toMatchObject({ args: { eur: 1 }, principal: bea, agentPath: ['bot', 'x'] });
    expect(said).not.toHaveProperty('incomplete');
    const newer = decided({ asked: { agentPath: ['y'], interactive: true, args: { eur: 2 } }, args: { eur: 3 } });
    const bare = decided({ args: { eur: 4 } });
    const last = await explained({ log: [...log.slice(0, 2), newer, bare, answered] }, { known });
    expect(last).toMatchObject({ args: { eur: 2 }, agentPath: ['y'] });
    expect(last).not.toHaveProperty('principal');
    expect(await explained({ log }, { known, args: { eur: 50 } })).toMatchObject({ args: { eur: 50 } });
  });

  test('is of the call alone where the log does not say what it was asked with', async () => {
    const known = knownFor();
    const said = await explained({ log: [asked(), answered] }, { known });
    expect(said).toMatchObject({ args: { eur: 5, card: '1234' }, agentPath: ['bot'], incomplete: true });
    const bare = asked({ agentId: undefined, annotations: { readOnly: true } });
    const seen: PolicyRequest[] = [];
    const policy = {
      evaluate: (one: PolicyRequest) => {
        seen.push(one);
        return { outcome: 'allow' };
      },
    };
    expect(await explained({ log: [bare], policy }, { known })).toMatchObject({ agentPath: [], incomplete: true });
    expect(seen[0]?.context?.resource).toMatchObject({ annotations: { readOnly: true } });
    expect(seen[0]?.context?.interactive).toBe(true);
  });

  test('is nothing where there is no such call, or no session', async () => {
    expect(await explained({}, { known: knownFor() })).toBeUndefined();
    expect(await explained({}, { args: { eur: 1 } })).toBeUndefined();
    expect(await explained({ log: [answered] }, { known: knownFor() })).toBeUndefined();
    expect(await explained({ log: [asked()], isGone: true }, { known: knownFor() })).toBeUndefined();
  });
});

describe('MUT-H52 what came of a question', () => {
  const came = (given: Given, open?: OpenApproval, by: Principal = ann) =>
    outcomeOf(hostOf(given).host, { requestId: 'c#policy', by, place, open });
  const descriptor = { name: 'pay' };
  const toolOf = () => ({ descriptor });

  test('is its call, the tool, and the question while it is open, with why somebody may not answer it', async () => {
    const log = [asked(), answered];
    expect(await came({ log, toolOf })).toEqual({
      ...{ isOpen: false, call: expect.objectContaining({ callId: 'c', outcome: 'completed' }), tool: descriptor },
    });
    const open = openFor({ name: 'pay' });
    expect(await came({ log, toolOf }, open)).toEqual({
      ...{ isOpen: true, request: open.request, call: expect.objectContaining({ callId: 'c' }), tool: descriptor },
    });
    const others = openFor({ ...forBosses, name: 'pay' });
    expect(await came({ toolOf }, others)).toEqual({
      ...{ isOpen: true, request: others.request, whyNot: expect.any(String), tool: descriptor },
    });
    expect(await came({ toolOf }, others, bea)).not.toHaveProperty('whyNot');
    expect(Object.keys((await came({}, openFor())) ?? {})).toEqual(['isOpen', 'request']);
    expect(await came({ log: [answered], toolOf })).toBeUndefined();
    expect(Object.keys((await came({ isGone: true, toolOf }, open)) ?? {})).toEqual(['isOpen', 'request']);
  });

  test('is what the log says of that call, under its id, that of a question, or in a record', async () => {
    const log = [
      asked(),
      asked({ requestId: 'd' }),
      event('elicitation_response', { requestId: 'c#policy.1' }),
      decided({}),
      decided({ callId: 'd' }),
      event('custom', { kind: 'odd' }),
      event('message', { role: 'user', content: [] }),
      event('tool_update', { requestId: 7 }),
      answered,
    ] as unknown as AgentEvent[];
    const events = (async function* () {
      yield* log;
    })();
    expect(await all(ofCall(events, 'c'))).toEqual([log[0], log[2], log[3], log[8]]);
  });
});
