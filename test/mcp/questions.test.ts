import { describe, expect, test } from 'vitest';
import type { ReportedRequest } from '../../src/contracts/index.ts';
import { HeldSessions } from '../../src/host/mcp/turn/held-sessions.ts';
import type { FormQuestion } from '../../src/host/mcp/turn/questions.ts';
import { answerOfForm, formQuestion } from '../../src/host/mcp/turn/questions.ts';
import { Turn } from '../../src/host/mcp/turn/turn.ts';

const anna = { id: 'anna' };
const asks = (more: object) =>
  ({
    requestId: 'r',
    sessionId: 's',
    turnId: 't',
    kind: 'elicitation',
    agentPath: ['clerk'],
    message: 'How many?',
    ...more,
  }) as unknown as ReportedRequest;
const formed = (properties: unknown, more: object = {}) =>
  formQuestion(asks({ requestedSchema: { type: 'object', properties, ...more } }), anna);
const unshown = 'its form is not one that the protocol can show';

describe('a question as a form of the protocol', () => {
  test('has the members that clients can show, and says which must be filled in', () => {
    const properties = { count: { type: 'integer' }, name: { type: 'string' }, ok: { type: 'boolean' } };
    expect(formed(properties, { required: ['count'] })).toMatchObject({
      form: { message: 'How many?', requestedSchema: { type: 'object', properties, required: ['count'] } },
    });
    const { form } = formed({ n: { type: 'number' } }) as FormQuestion;
    expect(Object.keys(form.requestedSchema)).toEqual(['type', 'properties']);
  });

  test.each([
    ['a list', { tags: { type: 'array' } }],
    ['an object among others', { name: { type: 'string' }, at: { type: 'object' } }],
    ['a member that is null', { name: null }],
    ['no members', undefined],
    ['members that are null', null],
  ])('with %s in it is none, and is said to be none', (_what, properties) => {
    expect(formed(properties)).toBe(unshown);
  });

  test('a form that is no object is none', () => {
    expect(formQuestion(asks({ requestedSchema: { type: 'string', properties: {} } }), anna)).toBe(unshown);
  });
});

describe('ATK5-06 a question of more than 20,000 characters is none', () => {
  const long = (characters: number) => 'w'.repeat(characters);
  const approval = {
    title: 'Pay?',
    requestedBy: { id: 'b' },
    previewDigest: 'd',
    preview: [{ type: 'text', text: 'eur' }],
  };
  const form = { type: 'object', properties: { n: { type: 'number', description: long(9_000) } } };

  test.each<[string, object, boolean]>([
    ['words of an approval, with its preview', { message: long(19_995), approval }, true],
    ['one more', { message: long(19_996), approval }, false],
    ['the title of an approval', { message: undefined, approval: { ...approval, title: long(30_000) } }, false],
    ['a preview', { approval: { ...approval, preview: [{ type: 'text', text: long(20_000) }] } }, false],
    ['arguments in place of a preview', { approval: { ...approval, preview: [] }, args: { a: long(20_000) } }, false],
    ['words with what nobody sees written out', { message: '\u200b'.repeat(4_000), approval }, false],
    ['words of a question', { message: long(20_001) }, false],
    ['words that are answered with yes or no', { message: long(20_001), elicitation: 'user_approval' }, false],
    ['words and form together', { message: long(10_900), requestedSchema: form }, true],
    ['words and form that are longer', { message: long(11_000), requestedSchema: form }, false],
  ])('%s', (_, more, isShown) => {
    const question = formQuestion(asks(more), anna);
    if (isShown) expect(question).toHaveProperty('form.message');
    else expect(question).toMatch(/^what it asks takes 2\d{4} characters, and a form shows 20000$|takes 3\d{4} char/);
  });
});

describe('ATK3-08 what nobody sees is written out', () => {
  test.each([
    ['a question with a form', { message: 'Pay\u00ad 5?', requestedSchema: { type: 'object', properties: {} } }],
    ['a question without one', { message: 'Pay\u00ad 5?' }],
    [
      'an approval without a message',
      {
        message: undefined,
        args: {},
        approval: { title: 'Pay\u00ad 5?', requestedBy: { id: 'b' }, previewDigest: 'd', preview: [] },
      },
    ],
  ])('in %s', (_what, more) => {
    const { form } = formQuestion(asks(more), anna) as FormQuestion;
    expect(form.message.split('\n')[0]).toBe('Pay\\u00ad 5?');
  });

  test('in the name of an agent that says nothing else', () => {
    const { form } = formQuestion(asks({ message: undefined, agentPath: ['cl\u200berk'] }), anna) as FormQuestion;
    expect(form.message).toBe('cl\\u200berk asks');
  });
});

describe('one of several who must say yes', () => {
  const approval = {
    title: 'pay',
    requestedBy: { id: 'boss' },
    previewDigest: 'd',
    preview: [],
    approvers: { quorum: 2, users: ['anna', 'bert'] },
  };
  const vote = { requestId: 'r', action: 'accept', quorum: 2, digest: 'd', by: anna };
  const asked = (answer: object) =>
    formQuestion(asks({ kind: 'tool', name: 'pay', args: {}, approval, answers: [answer] }), anna);

  test('is not asked again for what he has said yes to', () => {
    expect(asked(vote)).toBe('the approval is counted; others must approve too');
  });

  test.each([
    ['another said yes', { ...vote, by: { id: 'bert' } }],
    ['somebody unknown said yes', { ...vote, by: undefined }],
    ['his yes was to something else', { ...vote, digest: 'other' }],
    ['his yes was to another question', { ...vote, requestId: 'q' }],
    ['he said no', { ...vote, action: 'decline' }],
  ])('is asked where %s', (_what, answer) => {
    expect(asked(answer)).toMatchObject({ form: { requestedSchema: { required: ['decision'] } } });
  });
});

describe('what a person answered', () => {
  const approval = { title: 'pay', requestedBy: anna, previewDigest: 'd', preview: [] };
  const question = formQuestion(asks({ kind: 'tool', name: 'pay', args: {}, approval }), anna) as FormQuestion;

  test.each<[string, Parameters<typeof answerOfForm>[1], object]>([
    ['allow', { action: 'accept', content: { decision: 'allow' } }, { kind: 'approve', previewDigest: 'd' }],
    ['deny', { action: 'accept', content: { decision: 'deny' } }, { kind: 'deny', reason: 'declined' }],
    [
      'a form that is empty',
      { action: 'accept', content: {} },
      { kind: 'deny', reason: 'the answer did not say allow' },
    ],
    ['no form at all', { action: 'accept' }, { kind: 'deny', reason: 'the answer did not say allow' }],
    ['no', { action: 'decline' }, { kind: 'deny', reason: 'declined' }],
    ['no, with a reason', { action: 'decline', reason: 'too much' }, { kind: 'deny', reason: 'too much' }],
    ['nothing', { action: 'cancel' }, { kind: 'elicitation', action: 'cancel' }],
  ])('%s', (_what, reply, expected) => {
    expect(answerOfForm(question, reply, anna)).toMatchObject({ ...expected, by: anna });
  });
});

test('a session that cannot be closed when its caller does not come back is told', async () => {
  const fault = new Error('the store is away');
  const told = await new Promise<unknown[]>((resolve) => {
    const held = new HeldSessions(1, (...words) => resolve(words));
    held.keep(held.place('ann'), { id: 's', [Symbol.asyncDispose]: () => Promise.reject(fault) } as never);
  });
  expect(told).toEqual([expect.stringContaining('session s'), fault]);
});

test('what an agent says whole before its call is what it said where nothing follows, and its pieces are not', () => {
  const turn = new Turn();
  const says = (text: string, more: object = {}) =>
    turn.push({ type: 'message', role: 'agent', content: [{ type: 'text', text }], ...more } as never);
  says('Loo', { partial: true });
  says('Looking.');
  turn.push({ type: 'tool_response', requestId: 'c', name: 'look', content: [] } as never);
  expect(turn.parts).toEqual([{ type: 'text', text: 'Looking.' }]);
  says('The', { partial: true });
  expect(turn.parts).toEqual([{ type: 'text', text: 'Looking.' }]);
  says('There it is.');
  expect(turn.parts).toEqual([{ type: 'text', text: 'There it is.' }]);
});
