import type { AgentSession } from '../../src/contracts/index.ts';

type Door = [name: string, door: (value: unknown) => unknown];

/** Reads a stream to its end. */
export async function drain(session: AgentSession, input: unknown, options?: unknown): Promise<void> {
  for await (const { type } of session.stream(input as string, options as object)) if (type === 'stream_end') return;
}

/** Every way into a session, whoever implements it. */
export function sessionDoors(session: () => AgentSession): Door[] {
  const read = (input: unknown, options?: unknown) => drain(session(), input, options);
  const drained = async (events: AsyncIterable<unknown>) => {
    for await (const _ of events);
  };
  const option = (member: string): Door => [`stream options.${member}`, (value) => read('hi', { [member]: value })];
  const options = [
    'tools',
    'excludeTools',
    'model',
    'hostToolExecution',
    'streaming',
    'permissionMode',
    'whilePending',
  ];
  return [
    ['stream', (value) => read(value)],
    ['stream list', (value) => read([value])],
    ['stream kind', (value) => read({ kind: value })],
    ['stream content', (value) => read({ kind: 'message', content: value })],
    ['stream part', (value) => read({ kind: 'message', content: [value] })],
    ['stream role', (value) => read({ kind: 'message', content: 'hi', role: value })],
    ['stream result', (value) => read({ kind: 'tool_result', requestId: 'r', result: value })],
    ['stream result of', (value) => read({ kind: 'tool_result', requestId: value, result: { content: [] } })],
    ['stream approval', (value) => read({ kind: 'tool_approval', requestId: value })],
    ['stream elicitation', (value) => read({ kind: 'elicitation_response', requestId: 'r', response: value })],
    ['stream options', (value) => read('hi', value)],
    ...[...options, 'limits', 'signal', 'traceContext', 'deps', 'streamId', 'principal', 'terms'].map(option),
    ['stream options.limits', (value) => read('hi', { limits: { steps: value } })],
    ['stream options.tools list', (value) => read('hi', { tools: [value] })],
    ['stream options.tools name', (value) => read('hi', { tools: [{ name: value, description: '' }] })],
    [
      'stream.abort',
      (value) =>
        session()
          .stream('hi')
          .abort(value as string),
    ],
    ['respond', (value) => session().respond(value as string, { kind: 'deny' })],
    ['respond answer', (value) => session().respond('r', value as never)],
    ['respond kind', (value) => session().respond('r', { kind: value } as never)],
    ['respond by', (value) => session().respond('r', { kind: 'deny', by: value } as never)],
    ['steer', (value) => session().steer(value as never)],
    ['steer content', (value) => session().steer({ content: value as string })],
    ['steer threadId', (value) => session().steer({ content: 'x', threadId: value as string })],
    ['update', (value) => session().update(value as never)],
    ...['model', 'tools', 'title', 'permissionMode', 'config', 'other'].map(
      (member): Door => [`update ${member}`, (value) => session().update({ [member]: value } as never)],
    ),
    ['abort', (value) => session().abort(value as never)],
    ['abort reason', (value) => session().abort({ reason: value as string })],
    ['abort requestId', (value) => session().abort({ requestId: value as string })],
    ['abort threadId', (value) => session().abort({ threadId: value as string })],
    ['events', (value) => drained(session().events(value as never))],
    ['events after', (value) => drained(session().events({ after: value as string }))],
    ['events limit', (value) => drained(session().events({ limit: value as number }))],
  ];
}
