// Checked by `tsc -p tsconfig.json`, never run: what must compile and, behind @ts-expect-error, what must not.
import { z } from 'zod';
import type {
  AgentCustomEvent,
  AgentDescriptor,
  AgentEvent,
  AgentSession,
  Closed,
  ContentPart,
  DisplayContent,
  ExecutionOptions,
  ExecutorSession,
  HookResult,
  PolicyDecision,
  ReportedRequest,
  RequestAnswer,
  SessionInput,
  SessionUpdate,
  ToolDescriptor,
  ToolRequestEvent,
  ToolResult,
} from '../../src/contracts/index.ts';
import { CoxswainError, defineTool, hooks } from '../../src/contracts/index.ts';
import type { agentDescriptor } from '../../src/contracts/schemas/index.ts';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const isTrue = <T extends true>(_?: T): void => {};

// The one type that is written by hand, because it is recursive, is what its schema says.
type ParsedDescriptor = Closed<z.infer<typeof agentDescriptor>>;
isTrue<Equal<keyof AgentDescriptor, keyof ParsedDescriptor>>();
export const written = (parsed: ParsedDescriptor): AgentDescriptor => parsed;
export const parsed = (descriptor: AgentDescriptor): ParsedDescriptor => descriptor;

// AgentEvent narrows on `type`, to the end.
export function nameOf(event: AgentEvent): string {
  switch (event.type) {
    case 'initialize':
      return event.interfaceVersion;
    case 'session_update':
      return event.title ?? '';
    case 'message':
      isTrue<Equal<typeof event.content, ContentPart[]>>();
      return event.role;
    case 'tool_request':
      isTrue<Equal<typeof event, ToolRequestEvent>>();
      isTrue<Equal<typeof event.handledBy, 'host' | 'agent'>>();
      return event.requestId;
    case 'tool_update':
      return event.argsDelta ?? '';
    case 'tool_response':
      return event.errorType ?? '';
    case 'elicitation_request':
      return event.approval?.previewDigest ?? event.message;
    case 'elicitation_response':
      isTrue<Equal<typeof event.action, 'accept' | 'decline' | 'cancel'>>();
      return event.action;
    case 'usage':
      return String(event.cost?.usd);
    case 'error':
      return event.code;
    case 'stream_end':
      return event.data.pending?.[0]?.requestId ?? event.reason;
    case 'custom':
      return kindOf(event);
    default:
      // Only strangers are left: every known type was taken out above.
      isTrue<Equal<typeof event.type, `_${string}`>>();
      return event.type;
  }
}

// AgentCustomEvent narrows on `kind`.
function kindOf(event: AgentCustomEvent): string {
  switch (event.kind) {
    case 'policy_decision':
      isTrue<Equal<typeof event.data.outcome, 'approved' | 'denied'>>();
      return event.data.callId;
    case 'agent_transfer':
      return event.data.to;
    case 'artifact_delta':
      return String(event.data['a.txt']);
    case 'loop_iteration':
      // @ts-expect-error of another kind
      return event.data.callId;
    default:
      return event.kind;
  }
}

export function fieldsOfOthers(event: AgentEvent): void {
  // @ts-expect-error not before it is narrowed
  event.requestId;
  if (event.type === 'message') {
    // @ts-expect-error of another type
    event.requestId;
    // @ts-expect-error a typo
    event.contents;
  }
  // @ts-expect-error no event has this type
  if (event.type === 'tool_requst') event.id;
}

// Parts narrow on `type`.
export function textIn(part: ContentPart): string {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'reference':
      return part.text;
    case 'thought':
      return part.thought + (part.signature ?? '');
    case 'function_call':
      isTrue<Equal<typeof part.args, Record<string, unknown>>>();
      return part.id;
    case 'function_response':
      return part.name;
    case 'media':
      return part.mimeType;
    case 'citation':
      return part.title ?? '';
    case 'code':
      return part.language;
    case 'code_result':
      return part.output;
    default:
      isTrue<Equal<typeof part.type, `_${string}`>>();
      return '';
  }
}

// Records are open, everything else is closed: a typo does not compile.
export const parts: ContentPart[] = [
  { type: 'text', text: 'a', _meta: { anything: 1 } },
  { type: 'function_call', id: 'c', name: 'n', args: { anything: [1] } },
  { type: '_mine' },
  // @ts-expect-error a typo in the type
  { type: 'txt', text: 'a' },
  // @ts-expect-error a typo in a field
  { type: 'text', text: 'a', meta: {} },
  // @ts-expect-error a field of another type
  { type: 'text', thought: 'a' },
  // @ts-expect-error something missing
  { type: 'function_call', id: 'c', name: 'n' },
];

const base = { id: 'e', timestamp: 't', sessionId: 's', streamId: 'x' };
export const events: AgentEvent[] = [
  { ...base, type: 'message', role: 'agent', content: [] },
  { ...base, type: 'custom', kind: 'steer_applied', data: { steerIds: [] } },
  { ...base, type: 'custom', kind: 'ext:mine', data: 1 },
  { ...base, type: '_mine' },
  // @ts-expect-error a typo in a field
  { ...base, type: 'message', role: 'agent', content: [], patial: true },
  // @ts-expect-error a typo in a nested field
  { ...base, type: 'stream_end', reason: 'completed', data: { step: 1 } },
  // @ts-expect-error data of another kind
  { ...base, type: 'custom', kind: 'steer_applied', data: { callId: 'c' } },
  // @ts-expect-error an unknown kind without a prefix
  { ...base, type: 'custom', kind: 'mine', data: 1 },
];

export const display: DisplayContent[] = [
  { type: 'diff', path: 'a', newText: 'b' },
  // @ts-expect-error a typo
  { type: 'diff', path: 'a', newTxt: 'b' },
];

export const tool: ToolDescriptor = {
  name: 'pay',
  description: '',
  inputSchema: { type: 'object', anything: 1 },
  // @ts-expect-error a typo in a nested field
  annotations: { readonly: true },
};

export const agent: AgentDescriptor = {
  name: 'a',
  description: '',
  executor: 'adk',
  capabilities: ['streaming', 'my_own'],
  ownTools: [],
  requiredTools: [],
  subAgents: [],
  metadata: { anything: 1 },
  // @ts-expect-error a typo in a nested field
  constraints: { maxTurn: 1 },
};

export const inputs: SessionInput[] = [
  { kind: 'message', content: 'hi' },
  { kind: 'tool_result', requestId: 'c', result: { content: [] } },
  { kind: 'continue' },
  // @ts-expect-error a typo in the kind
  { kind: 'mesage', content: 'hi' },
  // @ts-expect-error a typo in a field
  { kind: 'tool_result', requestID: 'c', result: { content: [] } },
];

export const answers: RequestAnswer[] = [
  { kind: 'approve', args: { anything: 1 }, by: { id: 'ann' } },
  { kind: 'deny', reason: 'no' },
  // @ts-expect-error a field of another kind
  { kind: 'deny', args: {} },
  // @ts-expect-error no such action
  { kind: 'elicitation', action: 'maybe' },
];

export function answerName(answer: RequestAnswer): string {
  if (answer.kind === 'elicitation') return answer.action;
  if (answer.kind === 'result') return answer.result.errorType ?? '';
  return answer.reason ?? '';
}

// @ts-expect-error a typo
export const update: SessionUpdate = { modle: 'm' };
// @ts-expect-error a typo
export const options: ExecutionOptions = { hostToolExcution: true };
// @ts-expect-error a typo
export const result: ToolResult = { content: [], iserror: true };
// @ts-expect-error a typo
export const decision: PolicyDecision = { outcome: 'allow', ruleID: 'r' };
// @ts-expect-error no such action
export const hookResult: HookResult = { action: 'deny' };
export const openDecision: PolicyDecision = { outcome: 'ask' };

export function pendingOf(request: ReportedRequest): unknown {
  // @ts-expect-error a typo
  request.requestedat;
  return request.approval?.remember[0]?.rule.anything;
}

// The arguments of a tool are those of its schema.
export const pay = defineTool({
  name: 'pay',
  description: '',
  inputSchema: z.object({ amount: z.number(), note: z.string().optional() }),
  needsApproval: (args) => args.amount > 10,
  execute(args, context) {
    isTrue<Equal<typeof args, { amount: number; note?: string | undefined }>>();
    context.progress({ progress: 1 });
    // @ts-expect-error a typo
    return args.amuont;
  },
});
export const raw = defineTool({
  name: 'raw',
  description: '',
  inputSchema: { type: 'object' },
  execute: (args) => {
    isTrue<Equal<typeof args, Record<string, unknown>>>();
    return args;
  },
});
// @ts-expect-error no schema, no arguments
export const bare = defineTool({ name: 'bare', description: '', execute: () => 1 });

// Handlers of hooks know their payload, and may return nothing.
export const interceptor = hooks({
  beforeTool(call) {
    isTrue<Equal<typeof call.args, Record<string, unknown>>>();
    if (call.tool.name === 'pay') return { action: 'block', reason: 'no' };
    return undefined;
  },
  afterTool: async (call) => void call.result,
  onToolError() {},
  // @ts-expect-error no such point
  beforeTools() {},
});

export async function consume(session: AgentSession): Promise<void> {
  for await (const event of session.stream('hi')) if (event.type === 'stream_end') return;
  // @ts-expect-error an array of texts is no input
  session.stream(['hi']);
}

// What only a host may say: its callers cannot, and its executor is told.
declare const hosted: AgentSession;
declare const executor: ExecutorSession;
void executor.respond('c', {
  kind: 'approve',
  starts: true,
  quorum: 2,
  decision: { outcome: 'approved', by: 'policy' },
});
void executor.stream('go', { terms: {} });
// @ts-expect-error whether a call starts is its host's to say
void hosted.respond('c', { kind: 'approve', starts: true });
// @ts-expect-error what a turn is held to is its host's to say
void hosted.stream('go', { terms: {} });
executor satisfies AgentSession;

// A code has the statuses of its row; one of somebody else's has any.
new CoxswainError('ABORTED', 'E_SESSION_BUSY', 'it runs') satisfies CoxswainError;
new CoxswainError('DATA_LOSS', 'E_OF_ANOTHER', 'it is lost') satisfies CoxswainError;
// @ts-expect-error no session is busy by data loss
new CoxswainError('DATA_LOSS', 'E_SESSION_BUSY', 'it runs');
