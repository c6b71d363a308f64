import { appendFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../../../src/adapters/stores/open-store.ts';
import type { AnyTool, Session, SessionInput, ToolAnnotations, ToolCallContext } from '../../../src/contracts/index.ts';
import { createHost, LlmAgent } from '../../../src/index.ts';
import type { Model } from '../../../src/runtime/index.ts';
import type { Said, Task } from './words.ts';
import { KINDS, LOOK_MS, plain, stepsIn } from './words.ts';

// One of the processes that share sessions. What it is told comes in lines of JSON, and so does what it says.

const [url = '', notes = ''] = process.argv.slice(2);
const say = (said: Said) => writeSync(1, `${JSON.stringify(said)}\n`);
const note = (...words: (string | number)[]) => appendFileSync(notes, `${words.join(' ')}\n`);

/** Notes that it begins and that it ends, outside of every log. */
function noting(name: string, annotations: ToolAnnotations): AnyTool {
  return {
    name,
    description: name,
    inputSchema: { type: 'object', properties: { ms: { type: 'number' } } },
    annotations,
    execute: async (args: Record<string, unknown>, { callId, sessionId, signal }: ToolCallContext) => {
      note('begin', sessionId, callId, process.pid, name);
      const stopped = await sleep(Number(args.ms), false, { signal }).catch(() => true);
      note(stopped ? 'stopped' : 'end', sessionId, callId, process.pid, name);
      return annotations.longRunning ? undefined : { by: process.pid };
    },
  };
}

/** Calls what the last words of the person list, step by step. */
const model: Model = {
  name: 'lister',
  async *generate({ contents }) {
    const at = contents.findLastIndex(
      ({ role, parts }) => role === 'user' && parts.some((part) => part.type === 'text' && part.text.startsWith('do ')),
    );
    const words = contents[at]?.parts.find((part) => part.type === 'text');
    const done = contents.slice(at + 1).filter(({ parts }) => parts.some(({ type }) => type === 'function_call'));
    const step = words?.type === 'text' ? stepsIn(words.text)[done.length] : undefined;
    await sleep(1);
    const parts = step?.map(([name, ms]) => ({ type: 'function_call' as const, id: '', name, args: { ms } }));
    yield { content: { role: 'model', parts: parts ?? [{ type: 'text', text: 'done' }] }, turnComplete: true };
  },
};

const store = await openStore(url);
const append = store.append.bind(store);
store.append = async (key, events, options) => {
  const stored = await append(key, events, options);
  if (options?.epoch !== undefined) note('stored', key.id, options.epoch, stored[0]?.seq ?? 0, process.pid);
  return stored;
};
const kinds = Object.entries(KINDS);
const agent = new LlmAgent({ name: 'bot', model, tools: kinds.map(([name, of]) => noting(`own_${name}`, of)) });
const host = createHost({
  app: 'shop',
  userId: 'ann',
  agents: [agent],
  store: store,
  tools: kinds.map(([name, of]) => noting(name, of)),
  policy: { evaluate: ({ action }) => ({ outcome: action.endsWith('ask') ? 'ask' : 'allow' }) },
  approvalPollMs: LOOK_MS,
  followPollMs: LOOK_MS,
  toolConcurrency: 3,
  warn: () => {},
});

const open = new Map<string, Promise<Session>>();
function sessionOf(id: string): Promise<Session> {
  const known = open.get(id) ?? host.open('bot', { sessionId: id, create: true });
  open.set(id, known);
  return known;
}

async function run(session: Session, input: string | SessionInput): Promise<string> {
  let reason = 'none';
  for await (const event of session.stream(input)) {
    if (event.cursor !== undefined) say({ shown: event.id, session: session.id });
    if (event.type === 'stream_end') reason = event.reason;
  }
  return reason;
}

/** Answers one of the requests that are open; says which, and how. */
async function answer(session: Session, pick: number, isYes: boolean): Promise<Said['answered']> {
  const requests = (await session.pending()).filter(({ running, kind, elicitation, started }) =>
    running ? false : kind === 'elicitation' || elicitation !== undefined || !started,
  );
  const request = requests[pick % Math.max(1, requests.length)];
  if (!request) return undefined;
  const { requestId } = request;
  const settlement = await session.respond(requestId, isYes ? { kind: 'approve' } : { kind: 'deny' });
  return { requestId, isYes, isFirst: settlement.status === 'settled' };
}

/** Goes on until the turn has ended and nothing is open; says what is left where it does not come to that. */
async function finish(session: Session, withinMs: number): Promise<string> {
  const deadline = Date.now() + withinMs;
  let last = '';
  for (let tries = 0; tries < 30 && Date.now() < deadline; ) {
    try {
      last = await run(session, { kind: 'continue' });
    } catch (error) {
      last = plain(error);
      if (last === 'E_SESSION_BUSY') {
        await sleep(5);
        continue;
      }
      tries++;
    }
    // Of calls that have outlived their turn, too: there is no turn to go on with, but their questions.
    const pending = await session.pending();
    if (pending.length === 0 && isEnd(last)) return 'finished';
    for (let n = 0; n < pending.length; n++) await answer(session, n, true);
  }
  return `${last}: ${JSON.stringify(await session.pending())}`;
}

/** How a turn can end, and what is said where there is none to go on with. */
function isEnd(reason: string): boolean {
  return (
    reason === 'E_NO_TURN' || reason === 'E_TURN_COMPLETED' || !(reason === 'input_required' || reason.startsWith('E_'))
  );
}

async function work({ session: id, what, words = '', pick = 0 }: Task): Promise<Omit<Said, 'n'>> {
  const session = await sessionOf(id);
  switch (what) {
    case 'message':
      return { ok: await run(session, words) };
    case 'continue':
      return { ok: await run(session, { kind: 'continue' }) };
    case 'steer':
      return { ok: (await session.steer({ content: words })).steerId };
    case 'yes':
    case 'no': {
      const answered = await answer(session, pick, what === 'yes');
      return answered ? { ok: 'answered', answered } : { ok: 'nothing' };
    }
    case 'decide': {
      const of = (await host.approvals.list()).filter(({ request }) => request.sessionId === id);
      const one = of[pick % Math.max(1, of.length)];
      if (!one) return { ok: 'nothing' };
      const { requestId } = one.request;
      const { status } = await host.approvals.decide(requestId, { kind: 'approve' }, { by: { id: 'ann' } });
      return { ok: status, answered: { requestId, isYes: true, isFirst: status === 'settled' } };
    }
    case 'abort':
      await session.abort();
      return { ok: 'aborted' };
    case 'finish':
      return { ok: await finish(session, 20_000) };
    case 'events': {
      const ids: string[] = [];
      for await (const event of session.events()) ids.push(event.id);
      return { ok: ids.join(' ') };
    }
    default:
      throw new Error(`what is ${what satisfies never}?`);
  }
}

say({ ok: 'ready' });
for await (const line of createInterface({ input: process.stdin })) {
  const task = JSON.parse(line) as Task;
  void work(task).then(
    (said) => say({ n: task.n, ...said }),
    (error: unknown) => say({ n: task.n, refused: plain(error) }),
  );
}
process.exit();
