import { expect, onTestFinished, test, vi } from 'vitest';
import type { ConformanceTarget, Requirement } from '../../src/conformance/index.ts';
import {
  Breach,
  conformanceTests,
  isFailure,
  judge,
  makeReport,
  requirements,
  runConformance,
  tableOf,
  targetOfSource,
  Untestable,
} from '../../src/conformance/index.ts';
import { Deadline } from '../../src/conformance/kit/deadline.ts';
import type { SessionInput } from '../../src/contracts/index.ts';
import { CoxswainError } from '../../src/contracts/index.ts';
import { fromAgent, LlmAgent } from '../../src/index.ts';
import { targetOf } from './broken/bend.ts';
import { local } from './targets.ts';

const made = (
  tier: Requirement['tier'],
  check: Requirement['check'],
  more: Partial<Requirement> = {},
): Requirement => ({
  id: 'CX-TEST-01',
  title: 'made for this test',
  tier,
  cites: 'nowhere',
  check,
  ...more,
});

test('ids are unique and every capability requirement names its capability', () => {
  expect(new Set(requirements.map(({ id }) => id)).size).toBe(requirements.length);
  expect(requirements.filter(({ tier, capability }) => (tier === 'CAPABILITY') !== (capability !== undefined))).toEqual(
    [],
  );
  expect(requirements.filter(({ id }) => !/^CX-[A-Z]+-\d\d$/.test(id))).toEqual([]);
});

test('a mandatory requirement that could not be tested has failed, another one has not', async () => {
  const untestable = async () => {
    throw new Untestable('no way in');
  };
  const mandatory = await judge(made('MANDATORY', untestable), local);
  expect([mandatory.status, mandatory.found]).toEqual(['failed', 'it could not be tested: no way in']);
  const advisory = await judge(made('ADVISORY', untestable), local);
  expect([advisory.status, advisory.note]).toEqual(['untested', 'no way in']);
  const absent = await judge(
    made('CAPABILITY', async () => undefined, { capability: 'levitation' }),
    local,
  );
  expect([absent.status, absent.note]).toEqual(['untested', 'the executor does not advertise levitation']);
});

test('an advisory failure fails nothing', async () => {
  const breach = async () => {
    throw new Breach('one', 'two');
  };
  const found = await Promise.all(
    (['MANDATORY', 'CAPABILITY', 'ADVISORY', 'INFORMATIONAL'] as const).map((tier) => judge(made(tier, breach), local)),
  );
  expect(found.map(isFailure)).toEqual([true, true, false, false]);
});

test('every check gets an executor of its own, which is closed whatever happens', async () => {
  const log: string[] = [];
  let started = 0;
  const target: ConformanceTarget = {
    name: 'counting',
    async start() {
      const number = ++started;
      log.push(`start ${number}`);
      const right = await local.start();
      return { open: right.open, close: async () => void log.push(`close ${number}`) };
    },
  };
  await judge(
    made('MANDATORY', async (check) => void (await check.open())),
    target,
  );
  await judge(
    made('MANDATORY', async () => {
      throw new Error('boom');
    }),
    target,
  );
  expect(log).toEqual(['start 1', 'close 1', 'start 2', 'close 2']);
});

test('an executor that hangs fails with what was waited for', async () => {
  const target: ConformanceTarget = {
    name: 'hanging',
    start: async () => ({ open: () => new Promise(() => {}) }),
  };
  const finding = await judge(
    made('MANDATORY', async (check) => void (await check.open())),
    target,
    { deadlineMs: 5 },
  );
  expect([finding.expected, finding.found]).toEqual(['an opened session', 'nothing within 5 ms']);
});

test('an executor that does not start fails every requirement', async () => {
  const target: ConformanceTarget = { name: 'dead', start: () => Promise.reject(new Error('no such file')) };
  const finding = await judge(
    made('MANDATORY', async () => undefined),
    target,
  );
  expect([finding.status, finding.found]).toEqual(['failed', 'Error: no such file']);
});

test('words for an idle session that stand behind the next message are told', async () => {
  const late: ConformanceTarget = {
    name: 'late words',
    start: () =>
      targetOf({
        id: 'CX-STEER-02',
        how: 'words come after the message',
        bend: () => ({
          show(event) {
            if (event.type !== 'message' || event.role !== 'agent') return event;
            const swap = (text: string) => text.replace('"by the way","cx: recall"', '"cx: recall","by the way"');
            const content = event.content.map((part) =>
              part.type === 'text' ? { ...part, text: swap(part.text) } : part,
            );
            return { ...event, content };
          },
        }),
      }).start(),
  };
  const steer = requirements.filter(({ id }) => id === 'CX-STEER-02');
  const [finding] = await runConformance(steer, late);
  expect(finding).toMatchObject({ status: 'failed', expected: 'the words before the message' });
});

test('an executor at the end of a pipe tells nothing live: that is untested, and no crash', async () => {
  const target: ConformanceTarget = {
    name: 'deaf',
    async start() {
      const right = await local.start();
      return {
        async open(ref) {
          const session = await right.open(ref);
          const why = new CoxswainError('UNIMPLEMENTED', 'E_UNSUPPORTED', 'keeps no events to read');
          const next = () => Promise.reject(why);
          const events = () => ({ [Symbol.asyncIterator]: () => ({ next }) });
          return Object.assign(session, { events });
        },
      };
    },
  };
  const live = requirements.filter(({ id }) => id === 'CX-RESUME-06');
  const [finding] = await runConformance(live, target);
  expect(finding).toMatchObject({ status: 'untested', note: 'it reports nothing live' });
});

test('a failing test shows requirement, expectation and transcript', async () => {
  const target: ConformanceTarget = {
    name: 'mute',
    async start() {
      const right = await local.start();
      return {
        async open(ref) {
          const session = await right.open(ref);
          const stream = session.stream.bind(session);
          return Object.assign(session, { stream: () => stream('cx: say something else') });
        },
      };
    },
  };
  const first = conformanceTests(target).find(({ id }) => id === 'CX-TURN-01');
  const message = await first?.run().then(
    () => 'it passed',
    (error: Error) => error.message,
  );
  expect(message).toContain('CX-TURN-01 (MANDATORY) a message is answered and the turn completes');
  expect(message).toContain('expected: the words of the agent: "good morning"');
  expect(message).toContain('found:    "something else"');
  expect(message).toMatch(/> stream "cx: say good morning"\n\s+< initialize/);
});

test('NEW-C1 what others need is tested first; where it fails they are not tested, unless it is known', async () => {
  const log: string[] = [];
  const named = (id: string, needs: readonly string[], isHeld: boolean): Requirement => ({
    ...made('MANDATORY', async () => {
      log.push(id);
      if (!isHeld) throw new Breach('one', 'two');
    }),
    id,
    ...(needs.length > 0 ? { needs } : {}),
  });
  const list = [named('A', ['C'], true), named('B', [], true), named('C', ['D'], false), named('D', [], true)];
  const found = await runConformance(list, local);
  expect(log).toEqual(['D', 'C', 'B']);
  expect(found.map(({ id, status, note }) => [id, status, note])).toEqual([
    ['A', 'untested', 'needs C, which fails'],
    ['B', 'passed', undefined],
    ['C', 'failed', undefined],
    ['D', 'passed', undefined],
  ]);
  log.length = 0;
  expect((await runConformance(list, local, { known: ['C'] })).map(({ status }) => status)).toEqual([
    'passed',
    'passed',
    'failed',
    'passed',
  ]);
  expect(log).toEqual(['D', 'C', 'A', 'B']);
});

test('NEW-C5 an ordinary agent has one failure, which says what it lacks; tests that need it say where to begin', async () => {
  const model = { name: 'm', generate: () => answers() };
  async function* answers() {
    yield { content: { role: 'model' as const, parts: [{ type: 'text' as const, text: 'hi' }] } };
  }
  const ordinary = targetOfSource('ordinary', () => fromAgent(new LlmAgent({ name: 'bot', model })));
  const findings = await runConformance(requirements, ordinary);
  const failed = findings.filter(({ status }) => status === 'failed');
  expect(failed.map(({ id, found }) => [id, found])).toEqual([
    ['CX-TURN-01', expect.stringMatching(/^"hi": the agent does not follow the fixture messages.*answerFixture\(\)/)],
  ]);
  expect(tableOf(makeReport('ordinary', '1.1', findings))).toMatch(/\nbegin with CX-TURN-01: .*\n$/);
  const [needy] = conformanceTests(ordinary).filter(({ id }) => id === 'CX-GRAM-01');
  await expect(needy?.run()).rejects.toThrow('CX-GRAM-01 was not tested: begin with CX-TURN-01, which fails');
});

test('NEW-C3 a fault of a schema is one line, which begins with the member', async () => {
  const bent = targetOf({
    id: 'CX-GRAM-08',
    how: 'an error that does not say whether to try again',
    bend: () => ({
      show(event) {
        if (event.type !== 'error') return event;
        const { retryable: _, ...rest } = event;
        return rest as typeof event;
      },
    }),
  });
  const schema = requirements.filter(({ id }) => id === 'CX-GRAM-08');
  const [finding] = await runConformance(schema, bent);
  expect(finding?.found).toMatch(/^error\.retryable is missing in \{.*\}$/);
});

test('CX-TOOL-08: a late result that counts when it comes with a stream is seen', async () => {
  const twice = targetOf({
    id: 'CX-TOOL-08',
    how: 'the last result counts',
    bend: () => {
      let late = false;
      return {
        stream(right, input, options) {
          late = JSON.stringify(input).includes('the third');
          return right.stream(late ? (input as SessionInput[]).slice(1) : input, options);
        },
        show: (event) => (late ? JSON.parse(JSON.stringify(event).replaceAll('the first', 'the third')) : event),
      };
    },
  });
  const late = requirements.filter(({ id }) => id === 'CX-TOOL-08');
  expect(await runConformance(late, twice)).toMatchObject([{ status: 'failed', expected: 'the first answer' }]);
});

test.each([2 ** 31, Number.POSITIVE_INFINITY])(
  'ATK7-14 a wait that may take %d milliseconds is not over at once',
  async (ms) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { promise, resolve } = Promise.withResolvers<string>();
    const waiting = new Deadline(ms).within(promise, 'an answer');
    await vi.advanceTimersByTimeAsync(3_600_000);
    resolve('here');
    expect(await waiting).toBe('here');
  },
);
