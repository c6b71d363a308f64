import type { ReportedRequest, RequestAnswer, SessionInput } from '../../../src/contracts/index.ts';
import { people, words } from './policy.ts';
import type { World } from './world.ts';

const done = { content: [{ type: 'text' as const, text: 'the client did it' }] };

/** What somebody says to an open request: mostly what fits, sometimes not. */
export function answerTo(world: World, request: ReportedRequest): RequestAnswer {
  const by = world.chance(0.6) ? { by: world.pick(people) ?? { id: 'u' } } : {};
  const edited = world.chance(0.15) ? { args: editedArgs(world, request.args ?? {}) } : {};
  if (request.kind === 'tool') {
    const isBare = request.name === 'client' || request.name === 'a_client';
    const roll = world.random();
    if (roll < (isBare ? 0.7 : 0.1)) return { kind: 'result', result: done, ...by };
    if (roll < 0.85) return { kind: 'deny', reason: 'no', ...by };
    return { kind: 'approve', ...edited, ...by };
  }
  const roll = world.random();
  if (roll < 0.45) return { kind: 'approve', ...edited, ...by };
  if (roll < 0.65) return { kind: 'elicitation', action: 'accept', ...by };
  if (roll < 0.75) return { kind: 'deny', ...by };
  if (roll < 0.85) return { kind: 'elicitation', action: 'decline', ...by };
  if (roll < 0.95) return { kind: 'elicitation', action: 'cancel', ...by };
  return { kind: 'result', result: done, ...by };
}

function editedArgs(world: World, args: Record<string, unknown>): Record<string, unknown> {
  const { h: _, ...rest } = args;
  const edited: Record<string, unknown> = { ...rest, k: `${String(args.k)}e` };
  if (world.chance(0.3)) edited.p = world.pick(words);
  if (world.chance(0.1)) delete edited.k;
  return edited;
}

/** The same as an input of a stream. */
export function inputTo(world: World, request: ReportedRequest): SessionInput {
  const { requestId } = request;
  const answer = answerTo(world, request);
  const by = answer.by ? { by: answer.by } : {};
  switch (answer.kind) {
    case 'result':
      return { kind: 'tool_result', requestId, result: answer.result };
    case 'approve':
      return { kind: 'tool_approval', requestId, ...(answer.args ? { args: answer.args } : {}), ...by };
    case 'deny':
      return { kind: 'elicitation_response', requestId, response: { action: 'decline' }, ...by };
    default:
      return { kind: 'elicitation_response', requestId, response: { action: answer.action }, ...by };
  }
}
