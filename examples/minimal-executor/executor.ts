// A whole executor, without any library: spec/EXECUTOR.md. Its "model" obeys fixture messages (`cx: say hello`).
type Json = Record<string, unknown>;
type Schema = { required?: string[]; properties?: Record<string, { type?: string }> };
type Call = { id: string; name: string; args: Json; result?: Json };

class Session {
  said: string[] = [];
  asked = new Set<string>();
  calls: Call[] = [];
  steps: string[][] = [];
  at = 0;
  isOver = true;
  turnId = '';
  live: AbortController | undefined;
  ended: Promise<void> | undefined;
}

function fail(status: string, code: string, message: string): never {
  throw Object.assign(new Error(message), { data: { status, code } });
}

const lists = { capabilities: ['streaming', 'host_tool_execution'], ownTools: [], requiredTools: [], subAgents: [] };
const descriptor = { name: 'minimal', description: 'Does what messages say.', executor: 'minimal', ...lists };
const sessions = new Map<string, Session>();
const newId = () => crypto.randomUUID();
const now = () => new Date().toISOString();
const write = (frame: Json) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`);
const partsOf = (text: string) => [{ type: 'text', text }];
const textOf = (content: unknown) => (content as Json[]).map((part) => part.text ?? '').join('');
const failed = (errorType: string) => ({ content: partsOf(errorType), isError: true, errorType });
const find = (id: unknown) => sessions.get(String(id)) ?? fail('NOT_FOUND', 'E_SESSION_NOT_FOUND', `no session ${id}`);

const isOf = (value: unknown, type: string = typeof value) =>
  type === 'integer' ? Number.isInteger(value) : type === 'array' ? Array.isArray(value) : type === typeof value;
/** Flat arguments; for more take a library for JSON Schema. */
const fits = (args: Json, { required = [], properties = {} }: Schema) =>
  required.every((key) => key in args) && Object.keys(args).every((key) => isOf(args[key], properties[key]?.type));

/** The lines of each step; calls end one. */
function stepsOf(text: string): string[][] {
  const steps: string[][] = [[]];
  for (const line of text.split('\n').filter((each) => each.startsWith('cx: '))) {
    if (steps.at(-1)?.at(-1)?.startsWith('cx: call') && !line.startsWith('cx: call')) steps.push([]);
    steps.at(-1)?.push(line);
  }
  return steps;
}

function answer(session: Session, id: unknown, result: Json): Json {
  const call = session.calls.find((each) => each.id === id);
  if (!session.asked.has(String(id))) fail('FAILED_PRECONDITION', 'E_UNKNOWN_REQUEST', `no request ${id}`);
  if (!call || call.result) return { status: 'already_settled' };
  return Object.assign(call, { result }) && { status: 'settled' };
}

async function stream({ sessionId, streamId, input, options }: Json, accept: () => void): Promise<void> {
  const session = find(sessionId);
  const { tools = [], streaming = true } = options as { tools?: Json[]; streaming?: boolean };
  if (session.live) fail('ABORTED', 'E_SESSION_BUSY', 'a stream runs; wait for its end or abort it');
  let cancelled: Call[] = [];
  for (const { kind, requestId, result, content } of input as Json[]) {
    if (kind === 'tool_result') answer(session, requestId, result as Json);
    if (kind !== 'message' && session.isOver) fail('FAILED_PRECONDITION', 'E_TURN_COMPLETED', 'no open turn');
    if (kind !== 'message') continue;
    cancelled = session.calls;
    session.said.push(textOf(content));
    Object.assign(session, { steps: stepsOf(textOf(content)), at: 0, calls: [], isOver: false, turnId: newId() });
  }
  const base = { sessionId, streamId, turnId: session.turnId, agentId: 'minimal' };
  const made = (type: string, more: Json) => ({ id: newId(), type, timestamp: now(), ...base, ...more });
  const show = (type: string, more: Json) =>
    write({ method: 'event', params: { sessionId, streamId, event: made(type, more) } });
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = (reason: string, pending?: Json[]) => {
    session.isOver = reason !== 'input_required';
    Object.assign(session, { live: undefined, calls: session.isOver ? [] : session.calls });
    show('stream_end', { reason, data: { usage: {}, steps: session.at, pending } });
    resolve();
  };
  const { signal } = Object.assign(session, { live: new AbortController(), ended: promise }).live;
  accept();
  if (session.said.length === 1) show('initialize', { interfaceVersion: '1.0' });
  for (const { id, name } of cancelled) show('tool_response', { requestId: id, name, ...failed('cancelled') });
  while (true) {
    const place = { ...base, kind: 'tool', handledBy: 'host', started: false, path: '', agentPath: ['minimal'] };
    const asked = ({ id, name, args }: Call) => ({ ...place, requestId: id, name, args, requestedAt: now() });
    const pending = session.calls.filter(({ result }) => !result).map(asked);
    if (pending.length > 0) return end('input_required', pending);
    const done = session.calls.splice(0);
    for (const { id, name, result } of done) show('tool_response', { requestId: id, name, ...result });
    const results = done.map(({ name, result }) => `${name} -> ${textOf(result?.content ?? [])}`).join('\n');
    let text = '';
    for (const line of session.steps[session.at++] ?? [`cx: say ${results}`]) {
      const [, verb = '', rest = ''] = /^cx: (\w+) ?([\s\S]*)$/.exec(line) ?? [];
      const [name = '', ...json] = rest.split(' ');
      if (verb === 'say') text += rest;
      if (verb === 'words') for (let index = 0; index < Number(rest); index++) text += `w${index} `;
      if (verb === 'recall') text = JSON.stringify(session.said);
      if (verb === 'wait') await new Promise((go) => signal.addEventListener('abort', go));
      if (verb === 'call') session.calls.push({ id: newId(), name, args: JSON.parse(json.join(' ')) });
      if (verb !== 'fail') continue;
      show('error', { status: 'UNAVAILABLE', code: 'E_MODEL', message: rest, fatal: true, retryable: true });
      return end('failed');
    }
    const messageId = newId();
    for (const delta of streaming ? (text.match(/\S+\s*/g) ?? []) : []) {
      show('message', { role: 'agent', content: partsOf(delta), partial: true, _meta: { messageId, part: 0 } });
      await new Promise((go) => setImmediate(go)); // lets an abort in
      if (signal.aborted) break;
    }
    if (signal.aborted) return end('aborted');
    if (text) show('message', { role: 'agent', content: partsOf(text), _meta: { messageId } });
    for (const call of session.calls) {
      session.asked.add(call.id);
      show('tool_request', { requestId: call.id, name: call.name, args: call.args, handledBy: 'host' });
      const tool = tools.find(({ name }) => name === call.name);
      if (!tool) call.result = failed('not_found');
      else if (!fits(call.args, tool.inputSchema as Schema)) call.result = failed('invalid_args');
    }
    if (session.calls.length === 0) return end('completed');
  }
}

async function abort(session: Session): Promise<Json> {
  session.live?.abort();
  await session.ended;
  return Object.assign(session, { isOver: true, calls: [] }) && {};
}

function take({ id, method, params }: { id: number; method: string; params: Json }): unknown {
  const reply = (result: Json) => write({ id, result });
  const { sessionId, requestId, answer: given } = params as { answer?: { result?: Json } } & Json;
  if (method === 'initialize') return reply({ protocolVersion: '1.0', descriptor });
  if (method === 'open') return sessions.set(`s${id}`, new Session()) && reply({ sessionId: `s${id}` });
  if (method === 'stream') return stream(params, () => reply({}));
  if (method === 'respond') return reply(answer(find(sessionId), requestId, given?.result ?? failed('denied')));
  if (method === 'abort') return abort(find(sessionId)).then(reply);
  return write({ id, error: { code: -32601, message: `no method ${method}` } });
}

let rest = ''; // lines end at \n only: other ends of lines may stand in a text
for await (const chunk of process.stdin.setEncoding('utf8')) {
  const lines = `${rest}${chunk}`.split('\n');
  rest = lines.pop() ?? '';
  for (const frame of lines.map((line) => JSON.parse(line))) {
    const refuse = ({ message, data }: Error & { data?: Json }) => ({ code: -32000, message, data });
    void (async () => take(frame))().catch((error) => write({ id: frame.id, error: refuse(error) }));
  }
}
