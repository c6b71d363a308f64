import type { CallToolResult } from '@modelcontextprotocol/server';
import type { PendingRequest } from '../../contracts/index.ts';
import { compileSchema } from '../../gate/index.ts';
import type { HostedSession } from '../hosted-session.ts';
import type { AgentTool } from './agent-tool.ts';
import { toBlocks } from './content.ts';
import type { McpOptions } from './options.ts';
import type { Turn } from './turn.ts';

const text = (words: string): { type: 'text'; text: string } => ({ type: 'text', text: words });

/** A failure that the caller's model can read. */
export function failed(words: string): CallToolResult {
  return { content: [text(words)], isError: true };
}

/** What a turn that has ended came to. */
export function resultOf(tool: AgentTool, session: HostedSession, turn: Turn): CallToolResult {
  const said = toBlocks(turn.parts);
  const content = [...said, ...notes(turn), ...sessionNote(tool, session)];
  const _meta = { 'coxswain/sessionId': session.id };
  if (turn.reason !== 'completed') {
    const why = turn.error === undefined ? '' : ` (${turn.error})`;
    return { content: [text(`${tool.name} did not finish: ${turn.reason}${why}`), ...content], isError: true, _meta };
  }
  if (tool.outputSchema === undefined) return { content: content.length > 0 ? content : [text('')], _meta };
  const { output } = turn;
  if (!compileSchema(tool.outputSchema)(output)) {
    const words = `${tool.name} answered something that does not fit its output schema`;
    return { content: [text(words), ...content], isError: true, _meta };
  }
  return { content, structuredContent: output as Record<string, unknown>, _meta };
}

function notes({ denied }: Turn): CallToolResult['content'] {
  return denied.size === 0 ? [] : [text(`Not run, for want of a yes: ${[...denied].join(', ')}.`)];
}

function sessionNote({ tellsSession }: AgentTool, { id }: HostedSession): CallToolResult['content'] {
  if (!tellsSession) return [];
  return [{ ...text(`[session_id: ${id}]`), annotations: { audience: ['assistant'], priority: 0 } }];
}

/** The call ends, its question stays open: nothing has run. */
export function parked(
  tool: AgentTool,
  session: HostedSession,
  open: readonly PendingRequest[],
  why: string,
  options: McpOptions,
): CallToolResult {
  const settleAt = options.settleAt ?? (({ requestId }) => `coxswain approvals approve ${requestId}`);
  const lines = open.map((request) => {
    const { requestId } = request;
    const where = settleAt({ requestId, sessionId: session.id, agent: tool.agent.name });
    return `- ${request.message ?? request.name ?? 'a question'}\n  id ${requestId}; to be settled by a person: ${where}`;
  });
  const next = tool.tellsSession ? ` Once it is settled, call ${tool.name} again with this session_id.` : '';
  return {
    content: [
      text(`Nothing was run: ${why}. Open:\n${lines.join('\n')}\nNo tool can settle it.${next}`),
      ...sessionNote(tool, session),
    ],
    isError: true,
    _meta: { 'coxswain/sessionId': session.id, 'coxswain/open': open.map(({ requestId }) => requestId) },
  };
}
