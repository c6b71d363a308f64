import type { AnyAgentTool, JsonSchema, PolicyEvaluator, ToolAnnotations } from '../../../src/contracts/index.ts';
import { defineAgentTool } from '../../../src/contracts/index.ts';
import { hash, pause, randomOf } from './random.ts';
import type { World } from './world.ts';

/** What a call asks for; `k` names it in every process. */
export interface CallArgs extends Record<string, unknown> {
  k: string;
  escalate?: boolean;
  skip?: boolean;
  fail?: boolean;
}

export const inputSchema: JsonSchema = {
  type: 'object',
  properties: {
    k: { type: 'string' },
    escalate: { type: 'boolean' },
    skip: { type: 'boolean' },
    fail: { type: 'boolean' },
  },
  required: ['k'],
};

interface Kind {
  annotations?: ToolAnnotations;
  needsApproval?: boolean;
  /** Asks from inside its handler. */
  confirms?: boolean;
}

const kinds: Record<string, Kind> = {
  work: {},
  ask_work: {},
  safe: { annotations: { idempotent: true } },
  ask_safe: { annotations: { readOnly: true } },
  alone: { annotations: { exclusive: true } },
  floor: { needsApproval: true },
  confirm: { confirms: true },
  ask_confirm: { confirms: true },
  forbidden: {},
};

export const toolNames = Object.keys(kinds);

/** Asks about what is named so, forbids what is named so, allows the rest. */
export const policy: PolicyEvaluator = {
  evaluate: ({ action, args }) => {
    const outcome = action.startsWith('ask_') ? 'ask' : action === 'forbidden' ? 'deny' : 'allow';
    const random = randomOf(hash(`policy ${String(args?.k)}`));
    if (random() < 0.5) return { outcome };
    return pause(random).then(() => ({ outcome }));
  },
};

/** Tools that keep count of their runs and look whether they were allowed to run. */
export function toolsOf(world: World): AnyAgentTool[] {
  return Object.entries(kinds).map(([name, kind]) =>
    defineAgentTool({
      name,
      description: name,
      inputSchema,
      ...(kind.annotations ? { annotations: kind.annotations } : {}),
      ...(kind.needsApproval ? { needsApproval: true } : {}),
      async execute(given, context) {
        const args = given as CallArgs;
        const repeatable = kind.annotations?.idempotent === true || kind.annotations?.readOnly === true;
        mustBeApproved(world, name, context.callId, repeatable);
        if (kind.confirms && !context.confirmation?.confirmed) {
          context.requestConfirmation({ hint: `${name}?`, payload: { k: args.k } });
          return null;
        }
        world.effects.push({ key: args.k, callId: context.callId, repeatable });
        context.state.set(`s_${args.k}`, 1);
        if (args.k.length % 3 === 0) context.state.set(`user:s_${args.k}`, 1);
        await pause(randomOf(hash(`tool ${args.k}`)));
        if (args.escalate) context.escalate();
        if (args.skip) context.skipSummarization();
        if (args.fail) throw new Error(`no ${args.k}`);
        return { did: args.k };
      },
    }),
  );
}

/** Nothing runs without a stored yes, and nothing that must not run twice without a stored start. */
function mustBeApproved(world: World, name: string, callId: string, repeatable: boolean): void {
  const asked = name.startsWith('ask_') || name === 'floor';
  const isAccepted = world.log.some(({ actions }) =>
    Object.entries(actions.answers ?? {}).some(
      ([id, { action }]) => id.startsWith(`${callId}#`) && action === 'accept',
    ),
  );
  if (asked && !isAccepted) world.fault(`${name} ran before anybody had said yes`);
  if (repeatable) return;
  const isDecided = world.log.some(({ actions }) => actions.decisions?.[callId]?.outcome === 'approved');
  if (!isDecided) world.fault(`${name} ran without an approved decision in the log`);
}
