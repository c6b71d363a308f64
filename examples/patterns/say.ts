import type { AgentEvent, AgentSession, SessionInput } from 'coxswain';

export type Print = (line: string) => void;

/** Runs one stream and prints what people would see of it. */
export async function say(session: AgentSession, input: string | SessionInput, print: Print): Promise<void> {
  for await (const event of session.stream(input, { streaming: false })) {
    const line = lineOf(event);
    if (line !== undefined) print(line);
  }
}

function lineOf(event: AgentEvent): string | undefined {
  const who = event.threadId === undefined ? event.agentId : `  ${event.agentId}`;
  switch (event.type) {
    case 'message':
      return event.role === 'agent' ? `${who}: ${textOf(event.content)}` : undefined;
    case 'tool_request':
      return `${who} calls ${event.name}(${JSON.stringify(event.args)})`;
    case 'tool_response':
      return `${event.name} → ${event.errorType ?? textOf(event.content)}`;
    case 'elicitation_request':
      return `? ${event.message}`;
    case 'stream_end':
      return event.reason === 'completed' ? undefined : `(${event.reason})`;
    default:
      return undefined;
  }
}

function textOf(content: readonly { type: string }[]): string {
  return content.map((part) => ('text' in part ? String(part.text) : `<${part.type}>`)).join('');
}
