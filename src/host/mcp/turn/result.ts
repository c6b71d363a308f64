import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ReportedRequest, Session } from '../../../contracts/index.ts';
import { fitsSchema } from '../../../gate/index.ts';
import type { AgentTool } from './agent-tool.ts';
import { toBlocks } from './content.ts';
import type { McpOptions, OpenQuestion } from './options.ts';
import type { CallProgress } from './turn.ts';
import { Turn } from './turn.ts';

const text = (words: string): { type: 'text'; text: string } => ({ type: 'text', text: words });

/** A failure that the caller's model can read; what had run by then, and how to go on, where there is a session. */
export function failed(words: string, tool: AgentTool, session?: Session, turn?: Turn): CallToolResult {
  if (!session) return { content: [text(words)], isError: true };
  const ran = turn ? account(turn) : [];
  const _meta = { 'coxswain/sessionId': session.id, ...(turn ? metaOf(turn) : {}) };
  return { content: [...[words, ...ran].map(text), ...sessionNote(tool, session)], isError: true, _meta };
}

/** What a turn that has ended came to. */
export function callToolResult(tool: AgentTool, session: Session, turn: Turn): CallToolResult {
  const said = toBlocks(turn.parts);
  const isDone = turn.reason === 'completed';
  const notes = account(turn, isDone ? ['denied', 'unknown'] : undefined).map(text);
  if (turn.truncated) notes.unshift(text("The answer was cut at the model's output limit."));
  const content = [...said, ...notes, ...sessionNote(tool, session)];
  const _meta = { 'coxswain/sessionId': session.id, ...metaOf(turn) };
  if (!isDone) {
    const why = turn.error === undefined ? '' : ` (${turn.error})`;
    return { content: [text(`${tool.name} did not finish: ${turn.reason}${why}`), ...content], isError: true, _meta };
  }
  if (tool.outputSchema === undefined) return { content: content.length > 0 ? content : [text('')], _meta };
  const { output } = turn;
  if (!fitsSchema(tool.outputSchema, output)) {
    const words = `${tool.name} answered something that does not fit its output schema`;
    return { content: [text(words), ...content], isError: true, _meta };
  }
  return { content, structuredContent: output as Record<string, unknown>, _meta };
}

const headings: Record<CallProgress, string> = {
  ran: 'Ran',
  failed: 'Failed',
  unknown: 'Begun, and may have run',
  running: 'Still running',
  waiting: 'Not begun yet',
  refused: 'Not run, since it could not be',
  denied: 'Denied or cancelled',
};

/** What became of a turn's calls, a line for each kind. */
function account({ calls }: Turn, kinds = Object.keys(headings) as CallProgress[]): string[] {
  return kinds.flatMap((kind) => {
    const names = [...calls.values()].filter(({ outcome }) => outcome === kind).map(({ name }) => name);
    return names.length === 0 ? [] : [`${headings[kind]}: ${names.join(', ')}.`];
  });
}

/** For programs: the same, call by call. */
function metaOf({ calls }: Turn): Record<string, unknown> {
  return calls.size === 0 ? {} : { 'coxswain/calls': [...calls].map(([callId, call]) => ({ callId, ...call })) };
}

const begun = new Set<CallProgress>(['ran', 'failed', 'unknown', 'running']);

function sessionNote({ tellsSession }: AgentTool, { id }: Session): CallToolResult['content'] {
  if (!tellsSession) return [];
  return [{ ...text(`[session_id: ${id}]`), annotations: { audience: ['assistant'], priority: 0 } }];
}

function approveLine({ requestId, digest }: OpenQuestion): string {
  return `coxswain approvals approve ${requestId}${digest === undefined ? '' : ` --digest ${digest}`}`;
}

/** What is open, a line or two for each, and where a person settles it. */
export function openLines(
  tool: AgentTool,
  session: Session,
  open: readonly ReportedRequest[],
  { settleAt = approveLine }: McpOptions,
): string[] {
  return open.map((request) => {
    const { requestId, approval } = request;
    const digest = approval ? { digest: approval.previewDigest } : {};
    const where = settleAt({ requestId, sessionId: session.id, agent: tool.agent.name, ...digest });
    return `- ${request.message ?? request.name ?? 'a question'}\n  id ${requestId}; to be settled by a person: ${where}`;
  });
}

/** The call ends, its questions stay open. `turn`: what the log says of it by now. */
export function parked(
  tool: AgentTool,
  session: Session,
  { turn, open, why, options }: { turn: Turn; open: readonly ReportedRequest[]; why: string; options: McpOptions },
): CallToolResult {
  const lines = openLines(tool, session, open, options);
  const asked = new Set(open.map(({ callId }) => callId));
  const settled = new Turn();
  for (const [callId, call] of turn.calls) if (!asked.has(callId)) settled.calls.set(callId, call);
  const isNothing = ![...settled.calls.values()].some(({ outcome }) => begun.has(outcome));
  const lead = [isNothing ? `Nothing was run: ${why}.` : `It waits for an answer: ${why}.`, ...account(settled)];
  const next = tool.tellsSession
    ? ` Once it is settled, call ${tool.name} again with that session_id alone to get what came of it.`
    : '';
  return {
    content: [
      text(`${lead.join('\n')}\nOpen:\n${lines.join('\n')}\nNo tool can settle it.${next}`),
      ...sessionNote(tool, session),
    ],
    isError: true,
    _meta: {
      'coxswain/sessionId': session.id,
      'coxswain/open': open.map(({ requestId }) => requestId),
      ...metaOf(turn),
    },
  };
}
