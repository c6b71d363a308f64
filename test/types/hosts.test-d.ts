// Checked by `tsc -p tsconfig.json`, never run: what a host knows of its agents, and what a run comes to.
import { z } from 'zod';
import type { AgentSession, AgentSource, CoxswainError, ErrorCode, Session, SessionService } from '../../src/index.ts';
import {
  createHost,
  defineTool,
  fromAgent,
  InMemorySessionService,
  LlmAgent,
  policyFor,
  run,
  runOrThrow,
} from '../../src/index.ts';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const isTrue = <T extends true>(_?: T): void => {};

const triage = new LlmAgent({ name: 'triage', outputSchema: z.object({ team: z.enum(['billing', 'support']) }) });
const raw = new LlmAgent({
  name: 'raw',
  outputSchema: { type: 'object', properties: { score: { type: 'number' } }, required: ['score'] },
});
const plain = new LlmAgent({ name: 'plain' });
const host = createHost({ app: 'desk', agents: [triage, fromAgent(raw), plain] });

export async function outputs() {
  const result = await run(await host.open('triage'), 'go');
  isTrue<Equal<typeof result.output, { team: 'billing' | 'support' } | undefined>>();
  const { output } = await runOrThrow(await host.open('raw'), 'go');
  isTrue<Equal<typeof output, { score: number } | undefined>>();
  const none = await run(await host.open('plain'), 'go');
  isTrue<Equal<typeof none.output, unknown>>();
  // @ts-expect-error no such agent
  await host.open('triagee');
  // @ts-expect-error no such member
  result.output?.teem;
}

export async function errors() {
  const { error } = await run(await host.open('plain'), 'go');
  if (!error) return;
  isTrue<Equal<typeof error.status, CoxswainError['status']>>();
  const code: ErrorCode | (`E_${string}` & {}) = error.code;
  isTrue<Equal<typeof error.retryable, boolean>>();
  const { reason } = await runOrThrow(await host.open('plain'), 'go');
  isTrue<Equal<typeof reason, 'completed'>>();
  return code;
}

// A session shows what its caller may do with it, and nothing of how it is made.
isTrue<Equal<keyof Session, keyof AgentSession | 'history' | '~output'>>();
export async function opened() {
  const session = await host.open('plain');
  isTrue<Equal<typeof session, Session<unknown>>>();
  const standing = await session.standing();
  for await (const event of session.history()) if (event.type === 'message') return event.content;
  // @ts-expect-error the executor's own session is the host's
  session.inner;
  // @ts-expect-error so is what judges its calls
  session.judge;
  // @ts-expect-error and its frame
  session.frame;
  // @ts-expect-error only its owner goes on by itself
  session.resume;
  return standing;
}

// A host whose agents are not known by name takes any.
declare const sources: readonly AgentSource[];
void createHost({ app: 'desk', agents: sources }).open('whoever');

// Stores, credentials and models are what they are.
const store: SessionService = new InMemorySessionService();
createHost({ app: 'desk', agents: [plain], store: store, models: () => undefined });
// @ts-expect-error no store
createHost({ app: 'desk', agents: [plain], store: { foo: 1 } });
// @ts-expect-error no credentials
createHost({ app: 'desk', agents: [plain], credentials: 5 });
// @ts-expect-error no models
createHost({ app: 'desk', agents: [plain], models: 'nope' });
// @ts-expect-error no agent
createHost({ app: 'desk', agents: [{}] });

// A policy in code knows the tools and their arguments.
const pay = defineTool({ name: 'pay', description: '', inputSchema: z.object({ eur: z.number() }), execute: () => 1 });
const look = defineTool({ name: 'look', description: '', inputSchema: z.object({ at: z.string() }), execute: () => 1 });
policyFor([pay, look], { look: 'allow', pay: ({ eur }) => (eur < 5 ? 'allow' : undefined) });
policyFor([pay, look], {
  pay(args) {
    isTrue<Equal<typeof args, { eur: number }>>();
    return { outcome: 'ask', reason: 'large' };
  },
});
policyFor([pay, look], { look: () => 'allow', pay: async () => ({ outcome: 'deny' }) });
// @ts-expect-error no such tool
policyFor([pay, look], { pya: 'allow' });
// @ts-expect-error no such member
policyFor([pay, look], { pay: ({ usd }) => (usd ? 'allow' : 'deny') });
// @ts-expect-error no verdict
policyFor([pay, look], { pay: 'maybe' });
// @ts-expect-error no verdict of a function
policyFor([pay, look], { pay: () => 'maybe' });
