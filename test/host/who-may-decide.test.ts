import { describe, expect, test } from 'vitest';
import type { ApproverRule, Principal, ReportedRequest } from '../../src/contracts/index.ts';
import {
  assertApprover,
  bothRules,
  decidingAnswer,
  mayDecide,
  votesFor,
  whyNotApprover,
} from '../../src/gate/questions/index.ts';

const ann: Principal = { id: 'ann', roles: ['staff'] };
const cfo: Principal = { id: 'cfo', roles: ['finance', 'board'] };
const nobody: Principal = { id: 'x' };

describe('whoever may decide', () => {
  test.each<[string, ApproverRule | undefined, Principal, string | undefined]>([
    ['without a rule anybody', undefined, nobody, undefined],
    ['with an empty one too', {}, nobody, undefined],
    ['whoever asked', {}, ann, undefined],
    ['not whoever asked', { notRequester: true }, ann, 'the requester may not approve'],
    ['whoever did not ask', { notRequester: true }, cfo, undefined],
    ['one with a role', { roles: ['finance', 'legal'] }, cfo, undefined],
    ['one with another role', { roles: ['finance', 'legal'] }, ann, 'it takes one of the roles finance, legal'],
    ['one without roles', { roles: ['finance'] }, nobody, 'it takes one of the roles finance'],
    ['no role is wanted', { roles: [] }, nobody, undefined],
    ['one with both roles', { roles: ['finance'], also: [['board']] }, cfo, undefined],
    [
      'one with one of both',
      { roles: ['staff'], also: [['board', 'owner']] },
      ann,
      'it takes one of the roles board, owner',
    ],
    ['one with none of others', { also: [['board']] }, ann, 'it takes one of the roles board'],
  ])('%s', (_, rule, by, fault) => {
    expect(whyNotApprover({ approvers: rule }, ann, by)).toBe(fault);
    expect(mayDecide({ approvers: rule }, ann, by)).toBe(fault === undefined);
    const check = () => assertApprover('q', { approvers: rule }, ann, by);
    if (fault === undefined) expect(check).not.toThrow();
    else
      expect(check).toThrow(
        expect.objectContaining({
          code: 'E_NOT_APPROVER',
          message: `${by.id} may not decide on q: ${fault}`,
          details: { requestId: 'q', by: by.id },
        }),
      );
  });

  test('nobody who is not named, where there is a rule', () => {
    expect([mayDecide({ approvers: {} }, ann, undefined), mayDecide({}, ann, undefined)]).toEqual([false, true]);
  });
});

type Answer = NonNullable<ReportedRequest['answers']>[number];
const yes = (by: Principal | undefined, more: Partial<Answer> = {}): Answer =>
  ({ requestId: 'q', action: 'accept', digest: 'd', ...(by ? { by } : {}), ...more }) as Answer;
const no = (by: Principal, more: Partial<Answer> = {}): Answer => yes(by, { action: 'decline', ...more });
const bob: Principal = { id: 'bob', roles: ['finance'] };

describe('the answer that decides', () => {
  const decides = (rule: ApproverRule | undefined, ...answers: Answer[]) => {
    const found = decidingAnswer(answers, { requestId: 'q', digest: 'd' }, { approvers: rule }, ann);
    return found ? answers.indexOf(found) : undefined;
  };
  test.each<[string, ApproverRule | undefined, Answer[], number | undefined]>([
    ['none', undefined, [], undefined],
    ['a yes', undefined, [yes(bob)], 0],
    ['a no', undefined, [no(bob)], 0],
    ['the first of both', undefined, [no(bob), yes(cfo)], 0],
    ['a yes to another question', undefined, [yes(bob, { requestId: 'q2' })], undefined],
    ['a yes to what was shown before', undefined, [yes(bob, { digest: 'old' })], undefined],
    ['a no to what was shown before', undefined, [no(bob, { digest: 'old' })], 0],
    ['a yes of somebody who may not', { roles: ['board'] }, [yes(bob), yes(cfo)], 1],
    ['one of two', { quorum: 2 }, [yes(bob)], undefined],
    ['two of two', { quorum: 2 }, [yes(bob), yes(cfo)], 1],
    ['one twice', { quorum: 2 }, [yes(bob), yes(bob)], undefined],
    ['a no among them', { quorum: 2 }, [yes(bob), no(cfo), yes(cfo)], 1],
    ['two of which one may not', { quorum: 2, roles: ['board'] }, [yes(bob), yes(cfo)], undefined],
    ['two to different edits', { quorum: 2 }, [yes(bob, { args: { a: 1 } }), yes(cfo, { args: { a: 2 } })], undefined],
    [
      'two to the same edit',
      { quorum: 2 },
      [yes(bob, { args: { a: 1, b: 2 } }), yes(cfo, { args: { b: 2, a: 1 } })],
      1,
    ],
    ['an edit and none', { quorum: 2 }, [yes(bob, { args: { a: 1 } }), yes(cfo)], undefined],
    ['somebody unknown, without a rule', undefined, [yes(undefined)], 0],
    ['somebody unknown, with one', {}, [yes(undefined)], undefined],
  ])('%s', (_, rule, answers, index) => {
    expect(decides(rule, ...answers)).toBe(index);
  });

  test('counts different people', () => {
    const ballot = { requestId: 'q', digest: 'd' };
    const all = [yes(bob), yes(bob), yes(cfo), no(ann), yes(ann, { requestId: 'q2' }), yes(ann, { args: {} })];
    expect([...votesFor(all, ballot, {}, ann)]).toEqual(['bob', 'cfo']);
    expect([...votesFor(all, { ...ballot, args: {} }, {}, ann)]).toEqual(['ann']);
  });
});

describe('two rules that both hold', () => {
  test.each<[string, ApproverRule | undefined, ApproverRule | undefined, ApproverRule | undefined]>([
    ['none', undefined, undefined, undefined],
    ['one', { roles: ['a'] }, undefined, { roles: ['a'] }],
    ['the other', undefined, { roles: ['b'] }, { roles: ['b'] }],
    ['roles of both', { roles: ['a'] }, { roles: ['b'] }, { roles: ['a'], also: [['b']] }],
    ['the same roles, in any order', { roles: ['a', 'b'] }, { roles: ['b', 'a'] }, { roles: ['b', 'a'] }],
    ['roles beside', { also: [['a']] }, { roles: ['b'], also: [['c']] }, { roles: ['a'], also: [['b'], ['c']] }],
    ['no roles', { roles: [] }, { quorum: 1 }, { roles: [], quorum: 1 }],
    ['not the requester', { notRequester: true }, { notRequester: false }, { notRequester: true }],
    ['the larger number', { quorum: 2 }, { quorum: 3 }, { quorum: 3 }],
    ['and the other way round', { quorum: 3 }, { quorum: 2 }, { quorum: 3 }],
  ])('%s', (_, a, b, both) => {
    expect(bothRules(a, b)).toEqual(both);
  });
});
