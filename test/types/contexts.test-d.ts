// Checked by `tsc -p tsconfig.json`, never run: what a handler is given, and who may run it.
import { z } from 'zod';
import type { AgentCallContext, AnyTool, CallInfo, Principal, ToolCallContext } from '../../src/index.ts';
import { agentTool, createHost, defineAgentTool, defineTool, hooks, LlmAgent, subagentTool } from '../../src/index.ts';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const isTrue = <T extends true>(_?: T): void => {};

interface Db {
  pay(eur: number): string;
}
const pay = { name: 'pay', description: 'Pays.', inputSchema: z.object({ eur: z.number() }) } as const;

// What every host gives.
const plain = defineTool({
  ...pay,
  execute({ eur }, context) {
    isTrue<Equal<typeof context, ToolCallContext<unknown>>>();
    isTrue<Equal<typeof context.principal, Principal>>();
    isTrue<Equal<typeof context.userId, string>>();
    // @ts-expect-error the state of a session is its agent's
    context.state;
    // @ts-expect-error artifacts too
    void context.artifacts;
    // @ts-expect-error and memory
    void context.searchMemory('tea');
    // @ts-expect-error only tools of an agent end its loop
    context.escalate();
    // @ts-expect-error nor does a host hand over
    context.transferTo('other');
    return eur;
  },
});

// What an agent's own tool is given besides.
const own = defineAgentTool({
  ...pay,
  name: 'own',
  execute({ eur }, { state, principal }) {
    state.set('last', eur);
    return principal.id;
  },
});

const bot = new LlmAgent({ name: 'bot', tools: [plain, own, agentTool(new LlmAgent({ name: 'expert' }))] });
createHost({ app: 'shop', agents: [bot], tools: [plain, subagentTool(bot as never)] });
// @ts-expect-error a host has no state to give
createHost({ app: 'shop', agents: [bot], tools: [own] });
// @ts-expect-error nor to one among others
createHost({ app: 'shop', agents: [bot], tools: [plain, own] });
// @ts-expect-error an agent of the runtime as a tool belongs to an agent; `subagentTool` is a host's
createHost({ app: 'shop', agents: [bot], tools: [agentTool(new LlmAgent({ name: 'other' }))] });
const inPlace = { ...pay, execute: (_: unknown, { state }: AgentCallContext) => state.get('a') };
// @ts-expect-error written in place it is no other
createHost({ app: 'shop', agents: [bot], tools: [inPlace] });
plain satisfies AnyTool;
// @ts-expect-error it needs an agent
own satisfies AnyTool;
// @ts-expect-error a tool of a host cannot name what only an agent's is given
defineTool({ ...pay, execute: ({ eur }, { state }: AgentCallContext) => state.set('a', eur) });

// Dependencies are named where they are taken: in the handler, in a preview, and of a call whose outcome is unknown.
const paid = defineTool({ ...pay, execute: ({ eur }, { deps }: ToolCallContext<Db>) => deps.pay(eur) });
const shown = defineTool({
  ...pay,
  preview: ({ eur }, { deps, principal }: CallInfo<Db>) => [
    { type: 'text', text: `${principal.id}: ${deps.pay(eur)}` },
  ],
  execute: ({ eur }) => eur,
});
const found = defineTool({
  ...pay,
  execute: ({ eur }, { deps }: ToolCallContext<Db>) => deps.pay(eur),
  onUnknownOutcome: ({ args, deps, callId, principal }) => ({ result: [deps.pay(args.eur), callId, principal.roles] }),
});
type ContextOf<T> = T extends { readonly execute?: (args: never, context: infer Context) => unknown } ? Context : never;
isTrue<Equal<ContextOf<typeof paid>, ToolCallContext<Db>>>();
isTrue<Equal<ContextOf<typeof shown>, ToolCallContext<Db>>>();
isTrue<Equal<ContextOf<typeof found>, ToolCallContext<Db>>>();
// @ts-expect-error a typo
defineTool({ ...pay, execute: ({ eur }, { deps }: ToolCallContext<Db>) => deps.pya(eur) });

// Hooks know who asks.
hooks({
  beforeTool({ context, args }) {
    isTrue<Equal<typeof context.principal, Principal>>();
    return context.principal.roles?.includes('boss') ? { action: 'proceed', modifications: { args } } : undefined;
  },
});
