import { expect, test } from 'vitest';
import type { AgentEvent, ApprovalQuestion } from '../../src/contracts/index.ts';
import type { HostOptions } from '../../src/index.ts';
import { createHost, rulePolicy } from '../../src/index.ts';
import { asks, endOf, say } from '../dispatch/agent-kit.ts';
import { editorOf } from './editor.ts';
import type { Step, StepsAgent } from './steps.ts';
import { script, stepsAgent } from './steps.ts';

const commandOf = ({ args = {}, name }: ApprovalQuestion) => String(args.command ?? args.path ?? name);

/** A host in which a person says yes to all but what `answer` says something else of. */
function hostOf(agent: StepsAgent, options: Partial<HostOptions> = {}, answer?: (what: string) => unknown) {
  const asked: string[] = [];
  const host = createHost({
    app: 'desk',
    agents: [agent.source],
    policy: rulePolicy([
      { tool: 'acp:execute', outcome: 'ask' },
      { tool: 'acp:write_text_file', outcome: 'ask' },
      { tool: '*', outcome: 'allow' },
    ]),
    onApproval: async (question) => {
      const what = commandOf(question);
      asked.push(what);
      const given = await answer?.(what);
      return given === 'no' ? { kind: 'deny' } : { kind: 'approve' };
    },
    ...options,
  });
  return { host, asked };
}

const never = new Promise<never>(() => {});

const about = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => {
    if (event.type === 'tool_request') return [`asks ${event.args.command ?? event.args.path}`];
    return event.type === 'tool_response' ? [`ends ${event.name}${event.isError ? ` ${event.errorType}` : ''}`] : [];
  });

test('PROP-A1 what an agent reads and writes through its host within a call that was approved is judged while that runs', async () => {
  using agent = stepsAgent();
  const { host, asked } = hostOf(agent);
  const session = await host.open('steps');
  const events = await say(session, script({ call: 'make', inside: [{ read: '/a' }, { write: '/b' }] }));
  expect(agent.journal()).toEqual(['make: yes', 'read text of /a', 'wrote /b']);
  expect([asked, agent.written]).toEqual([['make', '/b'], ['/b']]);
  expect(about(events)).toEqual([
    ...['asks make', 'asks /a', 'ends acp:read_text_file', 'asks /b', 'ends acp:write_text_file', 'ends acp:execute'],
  ]);
  expect(endOf(events)).toMatchObject({ reason: 'completed' });
  await host.close();
});

test('PROP-A1 a no to a call within another one is an answer, and the other goes on', async () => {
  using agent = stepsAgent();
  const { host } = hostOf(agent, {}, (what) => (what === 'make' ? 'yes' : 'no'));
  const steps = script({ call: 'make', inside: [{ write: '/b' }, { call: 'rm' }, { read: '/a' }] });
  const events = await say(await host.open('steps'), steps);
  const [first, refused, ...rest] = agent.journal();
  expect([first, rest]).toEqual(['make: yes', ['rm: no', 'read text of /a']]);
  expect(refused).toMatch(/not written/);
  expect(agent.written).toEqual([]);
  expect(endOf(events)).toMatchObject({ reason: 'completed' });
  await host.close();
});

test('PROP-A1 a permission within a permission within a permission', async () => {
  using agent = stepsAgent();
  const { host, asked } = hostOf(agent);
  const steps = script({ call: 'a', inside: [{ call: 'b', inside: [{ call: 'c', inside: [{ write: '/d' }] }] }] });
  expect(endOf(await say(await host.open('steps'), steps))).toMatchObject({ reason: 'completed' });
  expect([asked, agent.written]).toEqual([['a', 'b', 'c', '/d'], ['/d']]);
  await host.close();
});

test('PROP-A1 what is asked for while another call waits for a person is judged, and answered first', async () => {
  using agent = stepsAgent();
  const isAsked = Promise.withResolvers<void>();
  const { host, asked } = hostOf(agent, {}, (what) => (what === 'slow' ? isAsked.promise : isAsked.resolve()));
  const session = await host.open('steps');
  const steps = script({ all: [[{ call: 'slow' }], [{ asked: 1 }, { read: '/a' }, { call: 'quick' }]] });
  expect(endOf(await say(session, steps))).toMatchObject({ reason: 'completed' });
  expect(asked).toEqual(['slow', 'quick']);
  expect(agent.journal()[0]).toBe('read text of /a');
  expect(agent.journal().sort()).toEqual(['quick: yes', 'read text of /a', 'slow: yes']);
  await host.close();
});

test('PROP-A1 without a host, an answer that is given while another call runs is heard at once', async () => {
  using agent = stepsAgent();
  const session = await agent.source.open({ sessionId: 's1', create: true }, { app: 'desk', policy: asks });
  expect(endOf(await say(session, script({ call: 'make', inside: [{ write: '/b' }] })))).toMatchObject({
    reason: 'input_required',
  });
  const [open] = await session.pending();
  await session.respond(open?.requestId ?? '', { kind: 'approve' });
  const events: AgentEvent[] = [];
  for await (const event of session.stream({ kind: 'continue' })) {
    events.push(event);
    if (event.type === 'elicitation_request') await session.respond(event.requestId, { kind: 'approve' });
  }
  expect(agent.journal()).toEqual(['make: yes', 'wrote /b']);
  expect(endOf(events)).toMatchObject({ reason: 'completed' });
  await session[Symbol.asyncDispose]();
});

test('PROP-A1 as many questions at once as an agent likes: all have their answer before the first of them ends', async () => {
  using agent = stepsAgent();
  const { host, asked } = hostOf(agent);
  const titles = Array.from({ length: 300 }, (_, index) => `c${index}`);
  const events = await say(await host.open('steps'), script({ asksAll: titles }));
  expect(asked).toHaveLength(300);
  expect(agent.journal().sort()).toEqual(titles.map((title) => `${title}: yes`).sort());
  expect(endOf(events)).toMatchObject({ reason: 'completed' });
  await host.close();
});

test('PROP-A1 an abort while a call runs and one within it is asked about: nothing runs, nothing is open', async () => {
  using agent = stepsAgent({ cancelTimeoutMs: 200 });
  const { host } = hostOf(agent, {}, (what) => {
    if (what !== '/b') return 'yes';
    void session.abort({ reason: 'enough' });
    return never;
  });
  const session = await host.open('steps');
  const events = await say(session, script({ call: 'make', inside: [{ write: '/b' }] }));
  expect(endOf(events)).toMatchObject({ reason: 'aborted' });
  expect(await session.pending()).toEqual([]);
  expect(agent.written).toEqual([]);
  await host.close();
});

/** An agent that reads `/asked` goes on when a person has been asked about `what`. */
function untilAsked(what: string) {
  const isAsked = Promise.withResolvers<void>();
  const files = {
    readTextFile: async () => {
      await isAsked.promise;
      return 'asked';
    },
    writeTextFile: async () => {
      throw new Error('nobody has said yes to that');
    },
  };
  const answer = (asked: string) => {
    if (asked !== what) return 'yes';
    isAsked.resolve();
    return never;
  };
  return { files, answer };
}

test.each([
  ['ends its turn', []],
  ['dies', [{ dies: true }]],
] as [string, Step[]][])(
  'PROP-A1 an agent that %s while a call of it runs and one within it is asked about: both are closed',
  async (_, last) => {
    const { files, answer } = untilAsked('/b');
    using agent = stepsAgent({ files });
    const { host } = hostOf(agent, {}, answer);
    const session = await host.open('steps');
    const steps = script({ behind: [{ call: 'make', inside: [{ write: '/b' }] }] }, { read: '/asked' }, ...last);
    const events = await say(session, steps);
    expect(about(events).slice(-2)).toEqual(['ends acp:write_text_file cancelled', 'ends acp:execute interrupted']);
    const codes = events.flatMap((event) => (event.type === 'error' ? [event.code] : []));
    expect(codes).toEqual(last.length > 0 ? ['E_AGENT_PROCESS'] : []);
    expect(await session.pending()).toEqual([]);
    await host.close();
  },
);

test.each([
  ['asks for a call', { call: 'rm' }, /^rm: cancelled$/],
  ['writes a file', { write: '/b' }, /^not written/],
] as [string, Step, RegExp][])(
  'PROP-A2 an agent that was stopped, and %s: nobody is asked, and what was asked before is taken back',
  async (_, later, noted) => {
    const { files, answer } = untilAsked('first');
    using agent = stepsAgent({ files, cancelTimeoutMs: 600_000, askWithinMs: 1 });
    const { host, asked } = hostOf(agent, {}, answer);
    const session = await host.open('steps');
    const steps = script(
      { behind: [{ call: 'first' }] },
      { read: '/asked' },
      { begin: 'sneaks' },
      { cancelled: true },
      later,
    );
    const events = await say(session, steps);
    expect(events.find(({ type }) => type === 'error')).toMatchObject({ code: 'E_AGENT_UNASKED' });
    expect(asked).toEqual(['first']);
    expect(agent.journal()).toEqual(expect.arrayContaining(['first: cancelled', expect.stringMatching(noted)]));
    expect(about(events)).toContain('ends acp:execute cancelled');
    expect(await session.pending()).toEqual([]);
    await host.close();
  },
);

test('PROP-A1 in an editor, too, what is asked within a call that runs is asked while it runs', async () => {
  using agent = stepsAgent();
  const { host } = hostOf(agent, { onApproval: () => undefined });
  const editor = await editorOf(host, () => 'allow');
  const sessionId = await editor.start();
  const steps = script({ call: 'make', inside: [{ write: '/b' }, { call: 'more' }] });
  expect(await editor.prompt(sessionId, steps)).toBe('end_turn');
  expect(editor.asked).toHaveLength(3);
  expect([agent.journal(), agent.written]).toEqual([['make: yes', 'wrote /b', 'more: yes'], ['/b']]);
  editor.close();
  await editor.closed;
  await host.close();
});

test('PROP-A2 in an editor a question of an agent that has ended its turn is taken back', async () => {
  const { files, answer } = untilAsked('/b');
  using agent = stepsAgent({ files });
  const { host } = hostOf(agent, { onApproval: () => undefined });
  const editor = await editorOf(host, ({ toolCall }) => {
    const isWrite = JSON.stringify(toolCall.rawInput).includes('/b');
    if (isWrite) void answer('/b');
    return isWrite ? undefined : 'allow';
  });
  const steps = script({ behind: [{ call: 'make', inside: [{ write: '/b' }] }] }, { read: '/asked' });
  expect(await editor.prompt(await editor.start(), steps)).toBe('end_turn');
  expect(editor.asked).toHaveLength(2);
  editor.close();
  await editor.closed;
  await host.close();
});
