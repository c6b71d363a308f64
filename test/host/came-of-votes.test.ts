import { describe, expect, test } from 'vitest';
import type { ApprovalQuestion, HostAnswer, ReportedRequest, Settlement } from '../../src/contracts/index.ts';
import { afterAnswer, decidedByVotes } from '../../src/host/hosted/decided.ts';
import type { Answer } from './judge-kit.ts';
import { call } from './judge-kit.ts';

const requestId = 'c#policy';
const two = { roles: ['boss'], quorum: 2 };
const boss = (id: string, more: object = {}) => ({ id, roles: ['boss'], ...more });
const [a, b, c] = [boss('a'), boss('b'), boss('c')];
const ann = { id: 'ann' };
const by = (id: string) => ({ by: id });

const question = (more: object = {}) =>
  call({
    ...{ requestId, kind: 'elicitation', ...more },
    approval: { title: 't', preview: [], previewDigest: 'd', requestedBy: ann, remember: [], approvers: two },
  } as never) as ApprovalQuestion;

/** As the log has them: a vote, unless `more` says otherwise. */
const answer = (who: Answer['by'], more: Partial<Answer> = {}): Answer =>
  ({ requestId, action: 'accept', by: who, digest: 'd', quorum: 2, ...more }) as Answer;
const no = (who: Answer['by']) => answer(who, { action: 'decline', quorum: undefined } as never);

const vote = (who: object, more: object = {}) => ({ kind: 'approve', by: who, quorum: 2, ...more }) as HostAnswer;
const last = (who: object, more: object = {}) => ({ kind: 'approve', by: who, ...more }) as HostAnswer;
const deny = (who: object) => ({ kind: 'deny', by: who }) as HostAnswer;

const settled: Settlement = { status: 'settled' };
const waits: Settlement = { status: 'waiting_quorum' };
const already: Settlement = { status: 'already_settled' };

const came = (answers: Answer[] | undefined | 'closed', given: HostAnswer, status: Settlement) => {
  const open = answers === 'closed' ? [] : [call({ answers } as Partial<ReportedRequest>)];
  return afterAnswer({ pending: async () => open } as never, question(), given, status);
};

describe('MUT-H18 what an answer to a question for two has come to', () => {
  test.each<[string, Answer[] | undefined | 'closed', HostAnswer, Settlement, Settlement]>([
    ['a vote on what is closed is settled already', 'closed', vote(a), waits, already],
    ['an answer that has closed it has settled it', 'closed', last(a), settled, settled],
    ['the first vote waits', [answer(a)], vote(a), waits, { ...waits, ...by('a') }],
    ['a vote waits that is stored, whatever its store says', [answer(a)], vote(a), settled, { ...waits, ...by('a') }],
    ['a vote that is not stored is what its store says', [], vote(a), settled, settled],
    ['a vote that is not stored, and waits, waits', undefined, vote(a), waits, { ...waits, ...by('a') }],
    ['no vote waits for nobody', [answer(a)], last(a), settled, settled],
    ['who is not named is not named', [answer(undefined)], { kind: 'approve', quorum: 2 } as HostAnswer, waits, waits],
    ['the vote that decides settles', [answer(a), answer(b)], last(b), waits, { ...settled, ...by('b') }],
    ['one before it waits', [answer(a), answer(b)], vote(a), waits, { ...waits, ...by('a') }],
    [
      'one behind it is settled already',
      [answer(a), answer(b), answer(c)],
      vote(c),
      settled,
      { ...already, outcome: 'accept', ...by('b') },
    ],
    [
      'one that is not there came behind it',
      [answer(a), answer(b)],
      vote(c),
      settled,
      { ...already, outcome: 'accept', ...by('b') },
    ],
    [
      'who is late is late, wherever their answer stands',
      [answer(a), answer(b)],
      vote(a),
      already,
      { ...already, outcome: 'accept', ...by('b') },
    ],
    ['a no decides', [answer(a), no(b)], deny(b), settled, { ...settled, ...by('b') }],
    [
      'a yes behind a no is settled already',
      [no(b), answer(a)],
      vote(a),
      waits,
      { ...already, outcome: 'decline', ...by('b') },
    ],
    [
      'of two equal answers of one person the newest counts',
      [answer(a), answer(b), answer(a)],
      vote(a),
      waits,
      { ...already, outcome: 'accept', ...by('b') },
    ],
    [
      'answers to another question decide nothing',
      [answer(a, { requestId: 'c#policy.1' }), answer(b)],
      vote(b),
      waits,
      { ...waits, ...by('b') },
    ],
    [
      'who acts for somebody else is somebody else',
      [answer(a), answer(b), answer(boss('a', { onBehalfOf: 'x' }))],
      vote(boss('a', { onBehalfOf: 'x' })),
      waits,
      { ...already, outcome: 'accept', ...by('b') },
    ],
    [
      'who has edited has not said the same',
      [answer(a), answer(b), answer(a, { args: { eur: 1 } })],
      vote(a, { args: { eur: 1 } }),
      waits,
      { ...already, outcome: 'accept', ...by('b') },
    ],
    [
      'a no of who has said yes before is no yes',
      [answer(a), answer(b), no(a)],
      deny(a),
      settled,
      { ...already, outcome: 'accept', ...by('b') },
    ],
    [
      'a cancelled question is no declined one',
      [answer(a), answer(b, { action: 'cancel', quorum: undefined } as never)],
      { kind: 'elicitation', action: 'cancel', by: b } as HostAnswer,
      settled,
      { ...settled, ...by('b') },
    ],
  ])('%s', async (_, answers, given, status, expected) => {
    expect(await came(answers, given, status)).toStrictEqual(expected);
  });
});

describe('MUT-H18 votes that have decided', () => {
  const put = { requestId, approvers: two };
  const decided = (more: object) => decidedByVotes(call(more as Partial<ReportedRequest>), requestId, ann);
  const outcome: Settlement = { ...already, outcome: 'accept', ...by('b') };
  test.each<[string, object, Settlement | undefined]>([
    ['close their question', { questions: [put], answers: [answer(a), answer(b)] }, outcome],
    ['are none of a question that was not put', { answers: [answer(a), answer(b)] }, undefined],
    [
      'are none of another question',
      { questions: [{ ...put, requestId: 'c#policy.1' }], answers: [answer(a), answer(b)] },
      undefined,
    ],
    [
      'are none where one is enough',
      { questions: [{ requestId, approvers: { roles: ['boss'] } }], answers: [answer(a)] },
      undefined,
    ],
    ['are none as long as one is missing', { questions: [put], answers: [answer(a)] }, undefined],
    ['are none where nobody has answered', { questions: [put] }, undefined],
    [
      'count where all have seen the same',
      { questions: [put], answers: [answer(c, { digest: 'e' }), answer(a), answer(b)] },
      outcome,
    ],
    [
      'do not count where they have not',
      { questions: [put], answers: [answer(a, { digest: 'e' }), answer(b)] },
      undefined,
    ],
    [
      'are those that say what was seen',
      { questions: [put], answers: [answer(c, { digest: undefined } as never), answer(a), answer(b)] },
      outcome,
    ],
    [
      'may be a no, of somebody without a name',
      { questions: [put], answers: [no(undefined)] },
      { ...already, outcome: 'decline' },
    ],
  ])('%s', (_, more, expected) => {
    expect(decided(more)).toStrictEqual(expected);
  });
});
