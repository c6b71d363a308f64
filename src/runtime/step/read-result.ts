import type { AnyAgentTool, FunctionResponsePart } from '../../contracts/index.ts';
import { CoxswainError, defineAgentTool } from '../../contracts/index.ts';
import { pieceOf } from '../../session/index.ts';
import { AgentContext } from '../agent/index.ts';
import { keptOf, READ_RESULT, sees, textOfResult } from '../history/index.ts';
import { ToolContext } from '../hooks/index.ts';
import { viewerOf } from './viewer-of.ts';

/** Characters that are read at once. */
const PIECE = 8_000;
const MOST = 100_000;

/**
 * Reads again, piece by piece, a result that was left out of the agent's own history, or of which a tool's bound has left a
 * part. It knows no session of its own: whoever runs it is asked.
 */
export const readResultTool: AnyAgentTool = defineAgentTool({
  name: READ_RESULT,
  description:
    'Reads again the result of an earlier call of a tool, of which a part was left out to save room. Give the id of the call, or the name of the artifact, as the note has it. A long result is read in pieces: offset says where a piece begins.',
  inputSchema: {
    type: 'object',
    properties: {
      call: {
        type: 'string',
        description: 'Id of the earlier call, or name of the artifact that has its whole result, as the note has it.',
      },
      offset: { type: 'integer', minimum: 0, description: 'Character with which to begin. Default 0.' },
      length: { type: 'integer', minimum: 1, maximum: MOST, description: `Characters to read. Default ${PIECE}.` },
    },
    required: ['call'],
  },
  kind: 'read',
  annotations: { readOnly: true, idempotent: true },
  async execute({ call, offset, length }, context) {
    const text = await wholeOf(activationOf(context), context, String(call));
    const piece = pieceOf(text, Number(offset ?? 0), Math.min(Number(length ?? PIECE), MOST));
    return `${piece.text}\n${piece.note}`;
  },
});

/** Whether something of an agent's history was left out, so that there is something to be read again. */
export function needsReader(context: AgentContext, agent: Parameters<typeof viewerOf>[1]): boolean | Promise<boolean> {
  const history = context.invocation.session.history(viewerOf(context, agent));
  return history instanceof Promise ? history.then(({ hasMore }) => hasMore) : history.hasMore;
}

function activationOf(context: unknown): AgentContext {
  const activity = ToolContext.activityOf(context);
  if (activity instanceof AgentContext) return activity;
  throw new CoxswainError('INTERNAL', 'E_INTERNAL', `${READ_RESULT} was run without an agent`);
}

type Artifacts = Pick<ToolContext['artifacts'], 'load'>;

async function wholeOf(agent: AgentContext, { artifacts }: { artifacts: Artifacts }, call: string): Promise<string> {
  const part = await resultOf(agent, call);
  if (!part) {
    throw new CoxswainError('NOT_FOUND', 'E_TOOL', `there is no result of a call ${JSON.stringify(call)} here`);
  }
  const name = keptAs(part, call);
  if (name === undefined) return textOfResult(part);
  const whole = await artifacts.load(name);
  if (!whole) return textOfResult(part);
  if (!/^text\/|\bjson\b/.test(whole.mimeType)) {
    const message = `artifact ${JSON.stringify(name)} is ${whole.mimeType}, which is no text to be read`;
    throw new CoxswainError('FAILED_PRECONDITION', 'E_TOOL', message);
  }
  return Buffer.from(whole.data, 'base64').toString('utf8');
}

/** Of what this agent sees alone. */
async function resultOf(
  { invocation, branch, iso }: AgentContext,
  call: string,
): Promise<FunctionResponsePart | undefined> {
  const { session } = invocation;
  await session.whole();
  const { log } = session;
  for (let at = log.length - 1; at >= 0; at--) {
    const event = log[at];
    if (!event?.content || (event.iso ?? '') !== iso || !sees(branch, event.branch)) continue;
    for (const part of event.content.parts) if (part.type === 'function_response' && isMeant(part, call)) return part;
  }
  return undefined;
}

/** By the id of its call, or the name of what is kept of it. */
function isMeant(part: FunctionResponsePart, call: string): boolean {
  return part.id === call || keptOf(part).includes(call);
}

/** The artifact that is asked for, or that has the text which was cut off, if one has. */
function keptAs(part: FunctionResponsePart, call: string): string | undefined {
  const names = keptOf(part);
  if (names.includes(call)) return call;
  const said = JSON.stringify([part.response, part.content ?? []]);
  return names.findLast((name) => said.includes(name));
}
