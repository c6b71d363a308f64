import { expect, test } from 'vitest';
import type { ReportedRequest } from '../../src/contracts/index.ts';
import type { GateCall } from '../../src/gate/index.ts';
import { wantedSince } from '../../src/host/questions/under-policy.ts';
import type { HostRules } from '../../src/host/tools/grounds.ts';

type Answer = NonNullable<ReportedRequest['answers']>[number];
const yes = (id: string, more: Partial<Answer> = {}): Answer =>
  ({ requestId: 'c#policy', action: 'accept', digest: 'd', by: { id }, ...more }) as Answer;

test.each<[string, Answer[], boolean]>([
  ['two to the same', [yes('ann'), yes('bob')], false],
  ['two to different arguments', [yes('ann', { args: { eur: 1 } }), yes('bob')], true],
  ['two to different previews', [yes('ann', { digest: 'e' }), yes('bob')], true],
  ['one alone', [yes('bob')], true],
])('ATT-4 a quorum that is wanted since counts yeses to one thing: %s', async (_, answers, isAsked) => {
  const tool = { name: 'pay', description: '', inputSchema: {} };
  const call = { callId: 'c', args: {}, tool, source: 'host', agentPath: ['bot'], sessionId: 's' } as GateCall;
  const rules = {
    principal: { id: 'eve' },
    interactive: true,
    policy: { evaluate: () => ({ outcome: 'ask', approvers: { quorum: 2 } }) },
  } as unknown as HostRules;
  const request = { requestId: 'c', callId: 'c', kind: 'tool', answers, decision: { by: 'user:bob' } };
  expect((await wantedSince(request as unknown as ReportedRequest, call, rules)) !== undefined).toBe(isAsked);
});
