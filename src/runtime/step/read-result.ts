import type { AnyAgentTool, FunctionResponsePart } from '../../contracts/index.ts';
import { CoxswainError, defineAgentTool, isCoxswainError } from '../../contracts/index.ts';
import { pieceOf } from '../../session/index.ts';
import { AgentContext } from '../agent/index.ts';
import type { Truncated } from '../history/index.ts';
import { keptOf, READ_RESULT, sees, textOfResult, truncatedOf } from '../history/index.ts';
import { ToolContext } from '../hooks/index.ts';
import type { StoredEvent } from '../log/index.ts';
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
    const { text, lacks } = await wholeOf(activationOf(context), context, String(call));
    const piece = pieceOf(text, Number(offset ?? 0), Math.min(Number(length ?? PIECE), MOST));
    return [...(lacks === undefined ? [] : [lacks]), piece.text, piece.note].join('\n');
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

/** A result as text; `lacks`: what is said before it, where that is not all of it. */
interface Found {
  text: string;
  lacks?: string;
}

async function wholeOf(agent: AgentContext, { artifacts }: { artifacts: Artifacts }, call: string): Promise<Found> {
  const found = await resultOf(agent, call);
  if (!found) {
    throw new CoxswainError('NOT_FOUND', 'E_TOOL', `there is no result of a call ${JSON.stringify(call)} here`);
  }
  const { part, event } = found;
  const truncated = truncatedOf(part);
  const name = truncated?.artifacts.includes(call) ? call : truncated?.text;
  if (!truncated || name === undefined) return { text: textOfResult(part) };
  const whole = name === null ? undefined : await artifactOf(agent, artifacts, event, name);
  if (!whole) return { text: textOfResult(part), lacks: whyNotAll(truncated, keptOf(part, event), name) };
  if (!/^text\/|\bjson\b/.test(whole.mimeType)) {
    const message = `artifact ${JSON.stringify(name)} is ${whole.mimeType}, which is no text to be read`;
    throw new CoxswainError('FAILED_PRECONDITION', 'E_TOOL', message);
  }
  return { text: Buffer.from(whole.data, 'base64').toString('utf8') };
}

/**
 * The artifact that was saved with a result, as it was then. Undefined: its event says nothing of it, so that `spill` has it
 * or nobody; or it is gone, or stayed with the session that this one is a copy of.
 */
async function artifactOf(
  { invocation }: AgentContext,
  artifacts: Artifacts,
  event: StoredEvent,
  name: string,
): ReturnType<Artifacts['load']> {
  const { artifactDelta } = event.actions;
  const version = Object.hasOwn(artifactDelta, name) ? artifactDelta[name] : undefined;
  if (version === undefined || isSavedAgain(invocation.session.log, event, name, version)) return undefined;
  try {
    return await artifacts.load(name, version);
  } catch (error) {
    // There is no artifact service any more.
    if (isCoxswainError(error) && error.code === 'E_UNSUPPORTED') return undefined;
    throw error;
  }
}

/** A session uses no version twice: of two events that say the same one, the older is of the session that was copied. */
function isSavedAgain(log: readonly StoredEvent[], { seq }: StoredEvent, name: string, version: number): boolean {
  return log.some(({ seq: at, actions }) => at > seq && actions.artifactDelta[name] === version);
}

function whyNotAll({ bytes, artifacts }: Truncated, here: readonly string[], name: string | null): string {
  const parts = here.filter((one) => one !== name).map((one) => JSON.stringify(one));
  const rest =
    name !== null
      ? `what was kept as ${JSON.stringify(name)} cannot be read here`
      : parts.length > 0
        ? `call ${READ_RESULT} with ${parts.join(' or ')} for what was cut off it`
        : artifacts.length > 0
          ? 'what was cut off it cannot be read here'
          : 'the rest was dropped';
  return `[not the whole result: this is what is left of ${bytes} bytes; ${rest}]`;
}

/** Of what this agent sees alone. */
async function resultOf(
  { invocation, branch, iso }: AgentContext,
  call: string,
): Promise<{ part: FunctionResponsePart; event: StoredEvent } | undefined> {
  const { session } = invocation;
  await session.whole();
  const { log } = session;
  for (let at = log.length - 1; at >= 0; at--) {
    const event = log[at];
    if (!event?.content || (event.iso ?? '') !== iso || !sees(branch, event.branch)) continue;
    for (const part of event.content.parts) {
      if (part.type === 'function_response' && isMeant(part, call)) return { part, event };
    }
  }
  return undefined;
}

/** By the id of its call, or a name under which something of it is kept. */
function isMeant(part: FunctionResponsePart, call: string): boolean {
  return part.id === call || truncatedOf(part)?.artifacts.includes(call) === true;
}
