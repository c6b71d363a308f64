// Checked by `tsc -p tsconfig.json`, never run: dependencies are demanded exactly where a tool takes something from them.
import { z } from 'zod';
import type { DepsFrom } from '../../src/contracts/index.ts';
import type { AgentCallContext, AnyTool, CallInfo, ToolCallContext } from '../../src/index.ts';
import {
  agentTool,
  CustomAgent,
  createHost,
  defineAgentTool,
  defineTool,
  fromAgent,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  run,
  SequentialAgent,
  subagentTool,
} from '../../src/index.ts';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const isTrue = <T extends true>(_?: T): void => {};

interface Db {
  db: { pay(eur: number): string };
}
interface Mail {
  mail: { send(to: string): void };
}
declare const db: Db['db'];
declare const mail: Mail['mail'];

const about = { description: '', inputSchema: z.object({ eur: z.number() }) };
const free = defineTool({ ...about, name: 'free', execute: () => 1 });
const pay = defineTool({
  ...about,
  name: 'pay',
  execute: ({ eur }, { deps }: ToolCallContext<Db>) => deps.db.pay(eur),
});
const send = defineAgentTool({
  ...about,
  name: 'send',
  execute: (_, { deps }: AgentCallContext<Mail>) => deps.mail.send('ann'),
});
const shown = defineTool({
  ...about,
  name: 'shown',
  preview: ({ eur }, { deps }: CallInfo<Db>) => [{ type: 'text', text: deps.db.pay(eur) }],
  execute: () => 1,
});

const noted = defineTool({
  ...about,
  name: 'noted',
  needsApproval: ({ eur }, { deps }: CallInfo<Db>) => deps.db.pay(eur) === '',
  execute: ({ eur }, { deps }) => deps.db.pay(eur),
  preview: ({ eur }, { deps }) => [{ type: 'text', text: deps.db.pay(eur) }],
});
isTrue<Equal<Parameters<NonNullable<(typeof noted)['execute']>>[1]['deps'], Db>>();

const bot = new LlmAgent({ name: 'bot', tools: [free] });
const mailer = new LlmAgent({ name: 'mailer', tools: [free, send] });
isTrue<Equal<DepsFrom<typeof bot>, unknown>>();
isTrue<Equal<DepsFrom<typeof mailer>, Mail>>();

// Nobody takes any.
createHost({ app: 'shop', agents: [bot], tools: [free] });
createHost({ app: 'shop', agents: [bot], tools: [free], deps: { anything: 1 } });
// A host's tool does.
createHost({ app: 'shop', agents: [bot], tools: [free, pay], deps: { db } });
createHost({ app: 'shop', agents: [bot], tools: [shown], deps: { db } });
// @ts-expect-error they are missing
createHost({ app: 'shop', agents: [bot], tools: [free, pay] });
// @ts-expect-error a preview takes them, too
createHost({ app: 'shop', agents: [bot], tools: [shown] });
// @ts-expect-error they are others
createHost({ app: 'shop', agents: [bot], tools: [pay], deps: { mail } });
// An agent's tool does.
createHost({ app: 'shop', agents: [bot, mailer], deps: { mail } });
createHost({ app: 'shop', agents: [fromAgent(mailer)], tools: [pay], deps: { mail, db } });
// @ts-expect-error of one agent among others
createHost({ app: 'shop', agents: [bot, mailer] });
// @ts-expect-error of one that is a source
createHost({ app: 'shop', agents: [fromAgent(mailer)] });
// @ts-expect-error of host and agent: all of both
createHost({ app: 'shop', agents: [mailer], tools: [pay], deps: { mail } });

// Agents below agents take theirs along, and agents as tools.
const payer = new LlmAgent({ name: 'payer', tools: [pay] });
const team = new SequentialAgent({
  name: 'team',
  subAgents: [
    new ParallelAgent({ name: 'both', subAgents: [payer, mailer] }),
    new LoopAgent({ name: 'l', subAgents: [bot] }),
  ],
});
isTrue<Equal<DepsFrom<typeof team>, Db & Mail>>();
const lead = new LlmAgent({ name: 'lead', tools: [agentTool(payer)], subAgents: [mailer] });
isTrue<Equal<DepsFrom<typeof lead>, Db & Mail>>();
const custom = new CustomAgent({ name: 'custom', subAgents: [payer], run: (context) => void context.run(payer) });
createHost({ app: 'shop', agents: [team, lead, custom], deps: { db, mail } });
createHost({ app: 'shop', agents: [bot], tools: [subagentTool(fromAgent(payer))], deps: { db } });
// @ts-expect-error one of them is missing
createHost({ app: 'shop', agents: [team], deps: { db } });
// @ts-expect-error of an agent that is a tool
createHost({ app: 'shop', agents: [lead], deps: { mail } });
// @ts-expect-error of one below
createHost({ app: 'shop', agents: [custom] });
// @ts-expect-error of one that a host runs as a tool
createHost({ app: 'shop', agents: [bot], tools: [subagentTool(fromAgent(payer))] });

// Of what is not known, nothing is demanded.
declare const some: readonly AnyTool[];
declare const one: LlmAgent;
createHost({ app: 'shop', agents: [one], tools: some });
createHost({ app: 'shop', agents: [new LlmAgent({ name: 'x', tools: some })] });
const kept: LlmAgent = mailer;
void kept;

// All kinds of agents are opened by name.
export async function opened() {
  const host = createHost({ app: 'shop', agents: [team, custom], deps: { db, mail } });
  await run(await host.open('team'), 'go');
  await host.open('custom');
  // @ts-expect-error no such agent
  await host.open('teem');
}
