// Wrong uses: none compiles. `@ts-expect-error` is followed by words of what the compiler says without it, which the test
// of the installed package compares. Compiled, never run.
import type {
  AgentCallContext,
  ExecutionOptions,
  OpenRequest,
  PolicyRule,
  RequestAnswer,
  RunResult,
  Session,
  ToolCallContext,
} from 'coxswain';
import {
  agentTool,
  createHost,
  defineAgentTool,
  defineTool,
  fromAgent,
  hooks,
  LlmAgent,
  policyFor,
  run,
  runOrThrow,
  subagentTool,
} from 'coxswain';
import { ScriptedModel } from 'coxswain/testing';
import type { Ledger } from './bank.ts';
import { clerk, pay } from './bank.ts';
import { name as nameSchema, text as textSchema } from './schemas.ts';

const about = { name: 'read_note', description: 'Reads a note.', inputSchema: nameSchema } as const;
const typed = { ...about, outputSchema: textSchema };
const free = defineTool({ ...about, execute: ({ name }) => name });
const bot = new LlmAgent({ name: 'bot', outputSchema: textSchema });
const bank = { app: 'bank', agents: [clerk()], deps: { paid: [] as number[] } } as const;

// 1 A tool.
// @ts-expect-error Property 'nmae' does not exist
defineTool({ ...about, execute: ({ nmae }) => nmae });
// @ts-expect-error Property 'toFixed' does not exist on type 'string'
defineTool({ ...about, execute: ({ name }) => name.toFixed(2) });
// @ts-expect-error '{ txt: string; }' is not assignable to type
defineTool({ ...typed, execute: ({ name }) => ({ txt: name }) });
// @ts-expect-error 'number' is not assignable to type 'string'
defineTool({ ...typed, execute: async () => ({ text: 1 }) });
// @ts-expect-error Property 'execute' is missing
defineTool(about);
// @ts-expect-error Type 'number' is not assignable to type
defineTool({ name: 'x', description: '', inputSchema: 5, execute: () => 1 });
// @ts-expect-error Property 'state' does not exist on type 'ToolCallContext
defineTool({ ...about, execute: (_, { state }) => state.get('a') });
// @ts-expect-error Property 'escalate' does not exist on type 'ToolCallContext
defineTool({ ...about, execute: (_, context) => context.escalate() });
// @ts-expect-error 'ToolCallContext<Ledger>' is missing
defineTool({ ...about, execute: ({ name }, { state }: AgentCallContext<Ledger>) => state.set('a', name) });
// @ts-expect-error Property 'piad' does not exist on type 'Ledger'
defineTool({ ...about, execute: (_, { deps }: ToolCallContext<Ledger>) => deps.piad });

// 2 An agent.
// @ts-expect-error Type 'number' is not assignable to type
new LlmAgent({ name: 'bot', model: 5 });
// @ts-expect-error 'instructions' does not exist in type
new LlmAgent({ name: 'bot', instructions: 'Greet.' });
export async function outputs() {
  const host = createHost({ app: 'desk', agents: [bot, fromAgent(new LlmAgent({ name: 'plain' }))] });
  const { output } = await runOrThrow(await host.open('bot'), 'go');
  // @ts-expect-error Property 'txt' does not exist on type
  output?.txt;
  // @ts-expect-error 'output' is possibly 'undefined'
  output.text;
  // @ts-expect-error '"bott"' is not assignable to parameter of type '"bot" | "plain"'
  await host.open('bott');
}

// 3 A host.
// @ts-expect-error Property 'deps' is missing
createHost({ app: 'bank', agents: [clerk()], tools: [pay] });
// @ts-expect-error Property 'paid' is missing
createHost({ app: 'bank', agents: [clerk()], tools: [pay], deps: {} });
// @ts-expect-error Property 'deps' is missing
createHost({ app: 'bank', agents: [new LlmAgent({ name: 'payer', tools: [pay] })] });
// @ts-expect-error Property 'deps' is missing
createHost({
  app: 'bank',
  agents: [clerk()],
  tools: [subagentTool(fromAgent(new LlmAgent({ name: 'p', tools: [pay] })))],
});
// @ts-expect-error 'number' is not assignable to type 'CredentialService'
createHost({ ...bank, credentials: 5 });
// @ts-expect-error Type 'string' is not assignable to type
createHost({ ...bank, models: 'nope' });
// @ts-expect-error Type '{}' is not assignable to type
createHost({ app: 'bank', agents: [{}] });
// @ts-expect-error 'AgentCallContext
createHost({ ...bank, tools: [defineAgentTool({ ...about, execute: (_, { state }) => state.get('a') })] });
// @ts-expect-error 'AgentCallContext
createHost({ ...bank, tools: [agentTool(new LlmAgent({ name: 'other' }))] });
// @ts-expect-error 'onAproval' does not exist in type
createHost({ ...bank, onAproval: () => undefined });
// @ts-expect-error '{ kind: "yes"; }' is not assignable to type
createHost({ ...bank, onApproval: () => ({ kind: 'yes' }) });
// @ts-expect-error 'befroeTool' does not exist in type
hooks({ befroeTool: () => undefined });

// 4 A stream, and what it came to.
export async function streamed(session: Session) {
  // @ts-expect-error Argument of type 'number' is not assignable to parameter
  session.stream(5);
  // @ts-expect-error 'hostTools' does not exist in type
  session.stream('go', { hostTools: true });
  for await (const event of session.stream('go')) {
    // @ts-expect-error Property 'content' does not exist on type
    event.content;
    // @ts-expect-error Property 'name' does not exist on type
    if (event.type === 'message') event.name;
  }
  const { error }: RunResult = await run(session, 'go');
  // @ts-expect-error 'error' is possibly 'undefined'
  error.code;
  // @ts-expect-error '"MISSING"' have no overlap
  if (error?.status === 'MISSING') return;
  const { reason: always } = await runOrThrow(session, 'go');
  // @ts-expect-error '"input_required"' have no overlap
  if (always === 'input_required') return;
}

// 5 An approval, and a session as its caller has it.
export function open(request: OpenRequest) {
  // @ts-expect-error 'string | undefined' is not assignable to type 'string'
  const callId: string = request.callId;
  // @ts-expect-error Property 'requestedSchema' does not exist on type
  if (request.kind === 'tool') request.requestedSchema;
  // @ts-expect-error '"approval"' have no overlap
  if (request.kind === 'approval') return callId;
  // @ts-expect-error 'request.approval' is possibly 'undefined'
  return request.approval.requestedBy;
}
// @ts-expect-error Type '"aprove"' is not assignable to type
export const typo: RequestAnswer = { kind: 'aprove' };
// @ts-expect-error 'starts' does not exist in type
export const starts: RequestAnswer = { kind: 'approve', starts: true };
// @ts-expect-error 'quorum' does not exist in type
export const quorum: RequestAnswer = { kind: 'approve', quorum: 1 };
// @ts-expect-error 'decision' does not exist in type
export const decided: RequestAnswer = { kind: 'approve', decision: {} };
// @ts-expect-error 'terms' does not exist in type
export const terms: ExecutionOptions = { terms: {} };
export function inside(session: Session) {
  // @ts-expect-error Property 'inner' does not exist on type
  session.inner;
  // @ts-expect-error Property 'frame' does not exist on type
  session.frame;
  // @ts-expect-error Property 'judge' does not exist on type
  session.judge;
  // @ts-expect-error Property 'wake' does not exist on type
  session.wake;
  // @ts-expect-error '"yes"' is not assignable to parameter
  session.respond('r', 'yes');
  // @ts-expect-error 'undefined' is not assignable to parameter
  run(session, undefined);
}

// 6 A store.
// @ts-expect-error 'foo' does not exist in type
createHost({ ...bank, store: { foo: 1 } });

// 9 A policy.
// @ts-expect-error 'pya' does not exist in type
policyFor([pay, free], { pya: 'allow' });
// @ts-expect-error Property 'amuont' does not exist on type
policyFor([pay, free], { pay: ({ amuont }) => (amuont ? 'allow' : 'deny') });
// @ts-expect-error Property 'name' does not exist on type
policyFor([pay, free], { pay: ({ name }) => (name ? 'allow' : 'deny') });
// @ts-expect-error '"maybe"' is not assignable to type '"allow" | "ask" | "deny"
policyFor([pay, free], { pay: 'maybe' });
// @ts-expect-error 'pya' does not exist in type
createHost({ ...bank, tools: [pay, free], policy: { pya: 'allow' } });
// @ts-expect-error Property 'amuont' does not exist on type
createHost({ ...bank, tools: [pay, free], policy: { pay: ({ amuont }) => (amuont ? 'allow' : 'deny') } });
// @ts-expect-error Type '() => string' is not assignable to type '"allow" | "ask" | "deny"
createHost({ ...bank, tools: [pay], policy: { pay: () => 'maybe' } });
// @ts-expect-error '"ask_user"' is not assignable to type '"allow" | "ask" | "deny"'
export const former: PolicyRule = { id: 'big', tool: 'pay', outcome: 'ask_user' };

// 10 A test.
// @ts-expect-error 'cals' does not exist in type
export const script = new ScriptedModel([{ cals: [] }]);
// @ts-expect-error 'amount' does not exist in type
export const call = new ScriptedModel([{ calls: [{ amount: 3 }] }]);
