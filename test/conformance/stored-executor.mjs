// An executor that keeps its sessions in a folder: spec/EXECUTOR.md with resume, steer and elicitation.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2] ?? '.';
const live = new Map();
const id = () => crypto.randomUUID();
const write = (frame) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`);
const parts = (text) => [{ type: 'text', text }];
const textOf = (content) => content.map((part) => part.text ?? '').join('');
const problem = (kind) => ({ content: parts(kind), isError: true, errorType: kind });
const refuse = (status, code, message) => {
  throw Object.assign(new Error(message), { data: { status, code } });
};
const place = (sessionId, ending) => join(folder, `${encodeURIComponent(sessionId)}.${ending}`);
const load = (sessionId) => {
  const file = place(sessionId, 'json');
  if (!existsSync(file)) refuse('NOT_FOUND', 'E_SESSION_NOT_FOUND', `no session ${sessionId}`);
  return JSON.parse(readFileSync(file, 'utf8'));
};
const save = (session) => {
  writeFileSync(place(session.id, `${process.pid}.tmp`), JSON.stringify(session));
  renameSync(place(session.id, `${process.pid}.tmp`), place(session.id, 'json'));
};
const isAlive = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
const lock = (sessionId) => {
  const file = place(sessionId, 'lock');
  if (existsSync(file) && !isAlive(Number(readFileSync(file, 'utf8')))) rmSync(file);
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
  } catch {
    refuse('ABORTED', 'E_SESSION_BUSY', 'a stream runs');
  }
};
const fits = ({ required = [], properties = {} }, args) =>
  required.every((key) => key in args) &&
  Object.entries(properties).every(
    ([key, { type }]) => !(key in args) || type !== 'integer' || Number.isInteger(args[key]),
  );

function stepsOf(text) {
  const steps = [];
  const isCall = (line = '') => /^cx: (call|ask)/.test(line);
  for (const line of text.split('\n').filter((each) => each.startsWith('cx: '))) {
    if (steps.length === 0 || (isCall(steps.at(-1).at(-1)) && !isCall(line))) steps.push([]);
    steps.at(-1).push(line);
  }
  return steps;
}

function settle(session, requestId, answer) {
  const open = session.open.find((each) => each.requestId === requestId);
  if (!open) {
    if (!session.asked.includes(requestId))
      refuse('FAILED_PRECONDITION', 'E_UNKNOWN_REQUEST', `no request ${requestId}`);
    return { status: 'already_settled' };
  }
  if (open.answer || (open.expiresAt && Date.parse(open.expiresAt) <= Date.now())) return { status: 'already_settled' };
  const fine = open.kind === 'tool' ? ['result', 'deny'] : ['elicitation'];
  if (!fine.includes(answer.kind)) refuse('FAILED_PRECONDITION', 'E_WRONG_ANSWER', `wrong answer to ${requestId}`);
  const { content: _, ...rest } = answer;
  open.answer = open.kind === 'tool' ? (answer.result ?? problem('denied')) : rest;
  save(session);
  return { status: 'settled' };
}

const shown = ({ answer: _, ...request }) => request;
const isOpen = ({ answer }) => !answer;

async function stream({ sessionId, streamId, input, options = {} }, accept) {
  const running = live.get(sessionId);
  if (running?.run) refuse('ABORTED', 'E_SESSION_BUSY', 'a stream runs');
  lock(sessionId);
  let session;
  try {
    session = load(sessionId);
    for (const item of input) {
      if (item.kind === 'tool_result') settle(session, item.requestId, { kind: 'result', result: item.result });
      else if (item.kind === 'elicitation_response')
        settle(session, item.requestId, { kind: 'elicitation', ...item.response });
      if (item.kind !== 'message' && session.over) refuse('FAILED_PRECONDITION', 'E_TURN_COMPLETED', 'no open turn');
    }
  } catch (error) {
    rmSync(place(sessionId, 'lock'));
    throw error;
  }
  const controller = new AbortController();
  const done = Promise.withResolvers();
  running.run = { session, controller, ended: done.promise };
  const { signal } = controller;
  const base = () => ({ sessionId, streamId, turnId: session.turnId, agentId: 'stranger' });
  const show = (type, more, durable = true) => {
    const event = { id: id(), type, timestamp: new Date().toISOString(), ...base(), ...more };
    if (durable) {
      event.seq = session.events.length + 1;
      event.cursor = String(event.seq);
      session.events.push(event);
      save(session);
    }
    write({ method: 'event', params: { sessionId, streamId, event } });
  };
  const end = (reason) => {
    const pending = session.open.filter(isOpen).map(shown);
    session.over = reason !== 'input_required';
    save(session);
    running.run = undefined;
    rmSync(place(sessionId, 'lock'));
    show(
      'stream_end',
      { reason, data: { usage: session.usage, steps: session.at, ...(pending.length ? { pending } : {}) } },
      session.over,
    );
    done.resolve();
  };
  const close = (result) => {
    for (const open of session.open.splice(0)) respondTo(open, result(open));
  };
  const respondTo = (open, answer) => {
    const { requestId, kind, name } = open;
    if (kind === 'tool') show('tool_response', { requestId, name, ...answer });
    else show('elicitation_response', { requestId, action: answer.action });
  };
  accept();
  if (!running.greeted) show('initialize', { interfaceVersion: '1.0' }, false);
  running.greeted = true;
  const message = input.find(({ kind }) => kind === 'message');
  if (message) {
    close(({ kind }) => (kind === 'tool' ? problem('cancelled') : { action: 'cancel' }));
    session.said.push(...session.late.splice(0), textOf(message.content));
    Object.assign(session, {
      turnId: id(),
      steps: stepsOf(textOf(message.content)),
      at: 0,
      over: false,
      results: [],
      usage: {},
    });
    save(session);
  }
  for (;;) {
    for (const open of session.open) {
      if (!open.answer && open.expiresAt && Date.parse(open.expiresAt) <= Date.now())
        open.answer = { action: 'decline' };
    }
    if (session.open.some(isOpen)) return end('input_required');
    for (const open of session.open.splice(0)) {
      respondTo(open, open.answer);
      session.results.push(`${open.name ?? 'ask'} -> ${textOf(open.answer.content ?? [])}`);
    }
    const lines = session.steps[session.at++] ?? [`cx: say ${session.results.splice(0).join('\n')}`];
    let text = '';
    const calls = [];
    let failed;
    for (const line of lines) {
      const [, verb, rest] = /^cx: (\w+) ?([\s\S]*)$/.exec(line);
      const [name, ...json] = rest.split(' ');
      if (verb === 'say') text += rest;
      if (verb === 'words') for (let n = 0; n < Number(rest); n++) text += `w${n} `;
      if (verb === 'recall') text = JSON.stringify(session.said);
      if (verb === 'fail') failed = rest;
      if (verb === 'usage') {
        const [inputTokens, outputTokens] = rest.split(' ').map(Number);
        show('usage', { model: 'none', inputTokens, outputTokens });
        const { usage } = session;
        session.usage = {
          inputTokens: (usage.inputTokens ?? 0) + inputTokens,
          outputTokens: (usage.outputTokens ?? 0) + outputTokens,
        };
      }
      if (verb === 'wait') {
        await new Promise((go) => {
          signal.addEventListener('abort', go);
          if (rest) setTimeout(go, Number(rest));
        });
        if (rest && !signal.aborted) session.said.push(...session.late.splice(0));
      }
      if (verb === 'call')
        calls.push({ kind: 'tool', requestId: id(), name, args: JSON.parse(json.join(' ') || '{}') });
      if (verb === 'ask') calls.push({ kind: 'elicitation', requestId: id(), ask: JSON.parse(rest) });
    }
    await new Promise((go) => setImmediate(go));
    if (signal.aborted) {
      close(({ kind }) => (kind === 'tool' ? problem('cancelled') : { action: 'cancel' }));
      return end('aborted');
    }
    if (failed !== undefined) {
      show('error', { status: 'UNAVAILABLE', code: 'E_MODEL', message: failed, fatal: true, retryable: true });
      return end('failed');
    }
    if (text) show('message', { role: 'agent', content: parts(text), _meta: { messageId: id() } });
    for (const { ask, ...call } of calls) {
      const place = {
        sessionId,
        turnId: session.turnId,
        started: false,
        path: '',
        agentPath: ['stranger'],
        requestedAt: new Date().toISOString(),
      };
      session.asked.push(call.requestId);
      if (ask) {
        const expiresAt = ask.expiresInMs && new Date(Date.now() + ask.expiresInMs).toISOString();
        const more = { kind: ask.kind ?? 'clarification', message: ask.message, ...(expiresAt ? { expiresAt } : {}) };
        show('elicitation_request', { requestId: call.requestId, ...more });
        session.open.push({ ...place, ...more, ...call });
      } else {
        show('tool_request', { ...call, kind: undefined, handledBy: 'host' });
        const tool = (options.tools ?? []).find(({ name }) => name === call.name);
        const kind = !tool ? 'not_found' : fits(tool.inputSchema ?? {}, call.args) ? undefined : 'invalid_args';
        session.open.push({ ...place, ...call, handledBy: 'host', ...(kind ? { answer: problem(kind) } : {}) });
      }
    }
    save(session);
    if (calls.length === 0) return end('completed');
  }
}

const now = (sessionId) => live.get(sessionId)?.run?.session ?? load(sessionId);

const methods = {
  initialize: () => ({
    protocolVersion: '1.0',
    descriptor: {
      name: 'stranger',
      description: 'Keeps its sessions in a folder.',
      executor: 'stranger',
      capabilities: ['host_tool_execution', 'resume', 'steer', 'elicitation'],
      ownTools: [],
      requiredTools: [],
      subAgents: [],
    },
  }),
  open({ ref = {} }) {
    const sessionId = ref.sessionId ?? id();
    if (ref.sessionId === undefined) {
      save({
        id: sessionId,
        said: [],
        late: [],
        steps: [],
        at: 0,
        open: [],
        asked: [],
        results: [],
        events: [],
        over: true,
        usage: {},
      });
    } else load(sessionId);
    if (!live.has(sessionId)) live.set(sessionId, {});
    live.get(sessionId).greeted = false;
    return { sessionId };
  },
  respond: ({ sessionId, requestId, answer }) => settle(now(sessionId), requestId, answer),
  steer({ sessionId, data }) {
    const session = now(sessionId);
    if (session.over) session.late.push(textOf(data.content));
    else if (live.get(sessionId)?.run) session.late.push(textOf(data.content));
    else session.said.push(textOf(data.content));
    save(session);
    return { steerId: id(), disposition: session.over ? 'next_turn' : 'current_turn' };
  },
  async abort({ sessionId }) {
    const run = live.get(sessionId)?.run;
    if (run) {
      run.controller.abort();
      await run.ended;
      return {};
    }
    const session = load(sessionId);
    session.open = [];
    session.over = true;
    save(session);
    return {};
  },
  events({ sessionId, after, limit = 1e9 }) {
    const all = now(sessionId).events;
    return { events: all.slice(after ? Number(after) : 0).slice(0, limit) };
  },
  pending: ({ sessionId }) => ({ pending: now(sessionId).open.filter(isOpen).map(shown) }),
};

async function take({ id: number, method, params }) {
  if (method === 'stream') return stream(params, () => write({ id: number, result: {} }));
  const run = methods[method];
  if (!run) return write({ id: number, error: { code: -32601, message: `no method ${method}` } });
  write({ id: number, result: await run(params) });
}

let rest = '';
for await (const chunk of process.stdin.setEncoding('utf8')) {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const frame = JSON.parse(line);
    take(frame).catch(({ message, data }) => write({ id: frame.id, error: { code: -32000, message, data } }));
  }
}
