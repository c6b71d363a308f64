// Checked by `tsc -p tsconfig.json`, never run: what is open narrows by its kind, and has what its kind has.
import type { AgentElicitation, CredentialQuestion, WaitingCall } from '../../src/contracts/index.ts';
import type * as client from '../../src/entries/client.ts';
import type { RemoteApprovals, RemoteSession } from '../../src/entries/client.ts';
import type * as main from '../../src/index.ts';
import type {
  ApprovalQuestion,
  ApprovalRequest,
  OpenRequest,
  ReportedRequest,
  RunResult,
  Session,
} from '../../src/index.ts';
import { createHost, LlmAgent } from '../../src/index.ts';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const isTrue = <T extends true>(_?: T): void => {};

// What has no name of its own is taken out of the union.
isTrue<Equal<Extract<OpenRequest, { kind: 'tool' }>, WaitingCall>>();
isTrue<Equal<Extract<OpenRequest, { elicitation: 'auth_required' }>, CredentialQuestion>>();
isTrue<Equal<Exclude<OpenRequest, ApprovalQuestion | AgentElicitation>, WaitingCall>>();

// A client is given what a host gives; classes are nobody's to make.
isTrue<Equal<Awaited<ReturnType<RemoteSession['pending']>>, OpenRequest[]>>();
isTrue<Equal<Awaited<ReturnType<RemoteApprovals['list']>>[number]['request'], OpenRequest>>();
isTrue<Equal<Extract<keyof typeof client, 'RemoteSession' | 'RemoteApprovals'>, never>>();
isTrue<Equal<Extract<keyof typeof main, 'Approvals'>, never>>();

isTrue<Equal<RunResult['pending'], OpenRequest[]>>();
isTrue<Equal<Awaited<ReturnType<Session['pending']>>, OpenRequest[]>>();

export function shown(request: OpenRequest): string {
  // @ts-expect-error a question may be about no call
  request.callId satisfies string;
  // @ts-expect-error a call has no words
  request.message satisfies string;
  if (request.approval) {
    isTrue<Equal<typeof request, ApprovalQuestion>>();
    isTrue<Equal<typeof request.approval, ApprovalRequest>>();
    return `${request.name} ${JSON.stringify(request.args)} ${request.callId} ${request.message} ${request.approval.previewDigest}`;
  }
  switch (request.kind) {
    case 'tool':
      isTrue<Equal<typeof request, WaitingCall>>();
      // @ts-expect-error a call asks nothing
      request.requestedSchema satisfies object;
      return `${request.name} ${JSON.stringify(request.args)} ${request.callId}`;
    case 'rerun_unknown':
      return `${request.name} ${request.message}`;
    case 'elicitation':
      if (request.elicitation === 'auth_required') {
        isTrue<Equal<typeof request, CredentialQuestion>>();
        return request.message;
      }
      return `${request.message} ${JSON.stringify(request.requestedSchema)}`;
    default:
      isTrue<Equal<typeof request, never>>();
      // @ts-expect-error no such kind is left
      return request.kind;
  }
}

// @ts-expect-error no such kind
export const isApproval = (request: OpenRequest) => request.kind === 'approval';
// What callers are given is what executors say, too.
export const said = (request: OpenRequest): ReportedRequest => request;
// @ts-expect-error what an executor says may lack what its kind has
export const unsaid = (request: ReportedRequest): OpenRequest => request;

createHost({
  app: 'desk',
  agents: [new LlmAgent({ name: 'bot' })],
  onApproval(question) {
    isTrue<Equal<typeof question, ApprovalQuestion>>();
    return question.args.eur === 5 ? { kind: 'approve', previewDigest: question.approval.previewDigest } : undefined;
  },
  onElicitation(question) {
    isTrue<Equal<typeof question, AgentElicitation>>();
    return { kind: 'elicitation', action: question.elicitation === 'auth_required' ? 'cancel' : 'accept' };
  },
});

export async function inbox(): Promise<void> {
  const host = createHost({ app: 'desk', agents: [new LlmAgent({ name: 'bot' })] });
  for (const { request } of await host.approvals.list()) {
    isTrue<Equal<typeof request, OpenRequest>>();
    if (request.approval)
      await host.approvals.decide(request.requestId, { kind: 'deny', reason: request.name }, { by: { id: 'ann' } });
  }
}
