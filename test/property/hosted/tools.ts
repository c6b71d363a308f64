import type { AnyTool, JsonSchema, ToolAnnotations, ToolCallContext } from '../../../src/contracts/index.ts';
import { pause } from '../replay/random.ts';
import { verdictOf } from './policy.ts';
import type { Access } from './store.ts';
import { never } from './store.ts';
import type { World } from './world.ts';
import { Ledger } from './world.ts';

const inputSchema: JsonSchema = {
  type: 'object',
  properties: {
    k: { type: 'string' },
    p: { type: 'string' },
    h: { type: 'string' },
    fail: { type: 'boolean' },
    request: { type: 'string' },
  },
  required: ['k'],
};

interface Kind {
  annotations?: ToolAnnotations;
  needsApproval?: boolean;
  confirms?: boolean;
  slow?: boolean;
  /** Nobody here runs it. */
  bare?: boolean;
  tails?: boolean;
  previews?: boolean;
  unknown?: 'retry' | 'known';
}

export const kinds: Record<string, Kind> = {
  read: { annotations: { readOnly: true } },
  idem: { annotations: { idempotent: true }, slow: true },
  write: {},
  excl: { annotations: { exclusive: true }, slow: true },
  slow: { slow: true },
  long: { annotations: { longRunning: true } },
  confirm: { confirms: true },
  confirm_idem: { confirms: true, annotations: { idempotent: true } },
  floor: { needsApproval: true },
  retry: { slow: true, unknown: 'retry' },
  known: { slow: true, unknown: 'known' },
  preview: { previews: true },
  tail: { tails: true },
  client: { bare: true },
};

/** The same kinds as tools of the host, or (prefix `a_`) of the agent. */
export function toolsOf(world: World, access: Access, prefix: '' | 'a_'): AnyTool[] {
  const host = prefix === '';
  return Object.entries(kinds)
    .filter(([, { tails, previews }]) => host || (!tails && !previews))
    .map(([name, kind]) => makeTool(world, access, `${prefix}${name}`, kind));
}

function makeTool(world: World, access: Access, name: string, kind: Kind): AnyTool {
  const seen = new Map<string, number>();
  const { annotations, needsApproval, unknown } = kind;
  return {
    name,
    description: name,
    inputSchema,
    ...(annotations ? { annotations } : {}),
    ...(needsApproval ? { needsApproval } : {}),
    ...(kind.tails ? { makesTailCalls: true } : {}),
    ...(kind.previews && {
      preview: async (args: Record<string, unknown>) => {
        const k = String(args.k);
        const times = (seen.get(k) ?? 0) + 1;
        seen.set(k, times);
        await pause(world.random);
        return [{ type: 'text' as const, text: times > 2 ? 'as it is now' : 'as it was' }];
      },
    }),
    ...(unknown && {
      onUnknownOutcome: () => (unknown === 'retry' ? ('retry' as const) : { result: 'it had happened' }),
    }),
    ...(!kind.bare && {
      execute: (args: Record<string, unknown>, context: ToolCallContext) =>
        execute(world, access, name, kind, args, context),
    }),
  };
}

async function execute(
  world: World,
  access: Access,
  name: string,
  kind: Kind,
  args: Record<string, unknown>,
  context: ToolCallContext,
): Promise<unknown> {
  if (access.isDead) return never();
  const { callId, confirmation } = context;
  const repeatable = kind.annotations?.idempotent === true || kind.annotations?.readOnly === true;
  const effect = !kind.confirms || confirmation?.confirmed === true;
  const run = { callId, name, args, repeatable, effect, at: world.log.length };
  world.note(() => `  runs ${name} ${callId.slice(0, 8)} ${JSON.stringify(args)}${confirmation ? ' confirmed' : ''}`);
  if (!callId.includes('!')) world.runs.push(run);
  mayRun(world, run, kind, confirmation !== undefined);
  if (kind.confirms && !confirmation?.confirmed) {
    world.confirmationsAsked.set(callId, world.log.length);
    context.requestConfirmation({ hint: `${name}?` });
    return null;
  }
  if (world.chance(0.2)) context.progress({ progress: 1, total: 2 });
  if (kind.slow && world.chance(0.7)) await world.gate();
  else await pause(world.random);
  if (access.isDead) return never();
  if (args.fail === true) throw new Error(`no ${String(args.k)}`);
  if (kind.tails) {
    const tail = (p: string) => ({ name: 'write', args: { k: world.name(), p } });
    return { content: [{ type: 'text', text: 'tails' }], tailCalls: [tail('allow'), tail('ask'), tail('deny')] };
  }
  if (kind.annotations?.longRunning) return world.chance(0.5) ? undefined : { status: 'working' };
  return { did: args.k };
}

function isEdited({ k }: Record<string, unknown>): boolean {
  return String(k).endsWith('e');
}

/** A handler has begun: was it allowed to? */
function mayRun(
  world: World,
  { callId, name, args, repeatable }: World['runs'][number],
  kind: Kind,
  confirmed: boolean,
): void {
  const what = `${name} ${String(args.k)} (${String(args.p)})`;
  // Whoever edits a call may answer the question that policy asks about it.
  const verdict = args.p === 'expired' && isEdited(args) ? 'ask' : verdictOf(args);
  if (verdict === 'deny') {
    world.fault(`${what} ran, which policy denies`);
    return;
  }
  if (world.hooks && args.h !== undefined) world.fault(`${what} ran with a hook's word unheard`);
  if (callId.includes('!')) {
    if (verdict !== 'allow') world.fault(`${what} ran as a tail call`);
    return;
  }
  const call = new Ledger(world.log).calls.get(callId);
  if (!call) {
    world.fault(`${what} ran without being in the log`);
    return;
  }
  if (call.answered > 0) world.fault(`${what} ran after it was settled`);
  const yes = call.answers.filter(({ answer }) => answer.action === 'accept');
  if (verdict === 'ask' || kind.needsApproval) {
    if (yes.length === 0) world.fault(`${what} ran before anybody had said yes`);
    const voters = new Set(yes.map(({ answer }) => answer.by));
    if (args.p === 'quorum' && voters.size < 2) world.fault(`${what} ran with ${voters.size} vote`);
    if (args.p === 'peer' && !yes.some(({ answer }) => answer.by !== 'u')) world.fault(`${what} ran on its own word`);
    if (args.p === 'role' && !yes.some(({ answer }) => answer.roles?.includes('boss'))) {
      world.fault(`${what} ran without the boss`);
    }
  }
  if (confirmed) {
    const asked = world.confirmationsAsked.get(callId) ?? 0;
    if (!yes.some(({ at }) => at >= asked)) world.fault(`${what} ran as confirmed by nobody`);
  }
  if (repeatable) return;
  if (call.decisions.at(-1)?.outcome !== 'approved') world.fault(`${what} ran without an approved decision in the log`);
  const runs = world.runs.filter((run) => run.callId === callId).length;
  if (call.started.length < runs) world.fault(`${what} ran ${runs} times with ${call.started.length} starts`);
}
