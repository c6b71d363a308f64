import type { AgentEvent, ReportedRequest } from '../../contracts/index.ts';
import { CoxswainError, callIdOf, isCoxswainError } from '../../contracts/index.ts';
import { mayAnswer } from '../../gate/index.ts';
import { cursorBehind, parseCursor } from '../../session/resume/index.ts';
import type { UiQuestion, UiWriter } from '../../session/ui/index.ts';
import { fromUiMessages, toUiMessages } from '../../session/ui/index.ts';
import type { FollowedSession, RequestCaller } from '../connection/index.ts';
import type { EventBody } from './event-body.ts';
import type { HttpExchange } from './exchange.ts';
import { flagIn, given, jsonAnswer, segment } from './exchange.ts';
import { isOf, newestPlace, watching } from './follow-session.ts';
import type { UiTurnOptions } from './ui-frames.ts';
import { farewell, UiStreamFrames, UiTurnFrames } from './ui-frames.ts';

/** What a page that is loaded is shown at once; what is older it asks for. */
const MAX_EVENTS = 10_000;
const MAX_CHARS = 8 * 1024 * 1024;
const PAGE = 1000;

/** What tells a page of the AI SDK that it is such a stream. */
const UI_HEADERS = { 'x-vercel-ai-ui-message-stream': 'v1' };

/** What `useChat` posts: a message, or answers to approvals. The answer is the UI message stream of what comes of it. */
export async function postChat(exchange: HttpExchange): Promise<Response> {
  const { caller, key } = exchange;
  const asked = fromUiMessages(exchange.body);
  const { sessionId, message } = asked;
  const agent = segment(exchange, 'agent');
  const mayTheyAnswer = mayAnswerOf(caller);
  if (message) {
    await caller.call('session/open', { agent, sessionId, create: true, attach: false, control: false });
  } else await caller.takeUp(agent, sessionId);
  const hold = caller.held(sessionId);
  const { channel } = hold;
  const followed = await caller.follow(sessionId);
  const options = { mayAnswer: mayTheyAnswer, knownCalls: asked.knownCalls, isContinued: message === undefined };
  const answered = await respond(exchange, asked.answers, () => caller.token(hold, undefined), sessionId);
  // Answered by somebody else, or running already: the page is sent what it lacks, to the end.
  if (message === undefined && (answered === 0 || channel.streamId !== undefined)) {
    const calls = asked.answers.map(({ requestId }) => callIdOf(requestId));
    return turnStream(exchange, followed, { ...options, answered: calls, waits: false });
  }
  // Of the message, so that one that is sent again is the same request.
  const streamId = message ? `ui-${message.id}` : crypto.randomUUID();
  const before = { place: newestPlace(channel), isKnown: isOf(channel, streamId) };
  const { duplicate } = (await caller.call('session/stream', {
    input: message ? message.input : { kind: 'continue' },
    ...given({ sessionId, streamId, key: key ?? (message && streamId), fencingToken: caller.token(hold, undefined) }),
  })) as { duplicate?: boolean };
  const isAnew = !before.isKnown && !duplicate && isOf(channel, streamId);
  return uiStream(exchange, followed, streamId, options, isAnew ? before.place : {});
}

/** The newest messages of a session, for a page that is loaded, or those before a place. */
export async function chatMessages(exchange: HttpExchange): Promise<Response> {
  const { caller } = exchange;
  const sessionId = segment(exchange, 'session');
  await caller.takeUp(segment(exchange, 'agent'), sessionId);
  const before = exchange.query.get('before');
  const { events, earlier } = await newestEvents(exchange, sessionId, before);
  // What is open is asked in the newest turn.
  const pending = before === undefined ? await pendingOf(caller, sessionId) : [];
  const messages = toUiMessages(events, pending, { mayAnswer: mayAnswerOf(caller) });
  return jsonAnswer(200, given({ messages, earlier }));
}

/** The turn that runs, from its beginning, for a page that was loaded in its midst; 204: none runs. */
export async function resumeChat(exchange: HttpExchange): Promise<Response> {
  const { caller } = exchange;
  const sessionId = segment(exchange, 'session');
  const { channel } = await caller.takeUp(segment(exchange, 'agent'), sessionId);
  const mayTheyAnswer = mayAnswerOf(caller);
  const isWanted = flagIn(exchange, 'wait') ?? false;
  const waits = isWanted && (await questionsOf(caller, sessionId)).some((question) => !mayTheyAnswer(question));
  const followed = await caller.follow(sessionId);
  if (channel.streamId === undefined && !waits) return new Response(null, { status: 204 });
  return turnStream(exchange, followed, { mayAnswer: mayTheyAnswer, waits });
}

async function turnStream(
  exchange: HttpExchange,
  followed: FollowedSession,
  options: Omit<UiTurnOptions, 'pending' | 'held'>,
): Promise<Response> {
  const { channel } = followed;
  const pending = await questionsOf(exchange.caller, channel.session.id);
  const frames = (body: EventBody) => new UiTurnFrames(channel, body, { ...options, pending, held: exchange.held });
  const aborts = endsWithPage(exchange) ? channel.streamId : undefined;
  return uiAnswer(watching(exchange, followed, {}, { frames, farewell, aborts }));
}

function uiStream(
  exchange: HttpExchange,
  followed: FollowedSession,
  streamId: string,
  options: ConstructorParameters<typeof UiWriter>[0],
  place = newestPlace(followed.channel),
): Response {
  const { channel } = followed;
  const aborts = (endsWithPage(exchange) ?? exchange.onDisconnect === 'abort') ? streamId : undefined;
  const frames = (body: EventBody) => new UiStreamFrames(channel, body, streamId, options);
  return uiAnswer(watching(exchange, followed, place, { frames, farewell, aborts }));
}

export const endsWithPage = (exchange: HttpExchange) => flagIn(exchange, 'abort-on-disconnect');

function uiAnswer(response: Response): Response {
  for (const [name, value] of Object.entries(UI_HEADERS)) response.headers.set(name, value);
  return response;
}

/** Answers count where their question is open; all else that a page sends of the past is its own matter. */
async function respond(
  { caller }: HttpExchange,
  answers: ReturnType<typeof fromUiMessages>['answers'],
  token: () => string,
  sessionId: string,
): Promise<number> {
  if (answers.length === 0) return 0;
  const open = new Set((await pendingOf(caller, sessionId)).map(({ requestId }) => requestId));
  const heard = answers.filter(({ requestId }) => open.has(requestId));
  for (const { requestId, answer } of heard) {
    await caller.call('session/respond', { sessionId, requestId, answer, fencingToken: token() });
  }
  return heard.length;
}

/** What people are asked. */
export async function questionsOf(caller: RequestCaller, sessionId: string): Promise<ReportedRequest[]> {
  return (await pendingOf(caller, sessionId)).filter(({ kind }) => kind !== 'tool');
}

export async function pendingOf(caller: RequestCaller, sessionId: string): Promise<ReportedRequest[]> {
  const { pending } = (await caller.call('session/pending', { sessionId })) as { pending: ReportedRequest[] };
  return pending;
}

interface Kept {
  event: AgentEvent;
  chars: number;
}

interface NewestEvents {
  events: AgentEvent[];
  earlier?: string;
}

/**
 * The newest events of a session that are not too much for a page, from the beginning of a turn where there is room for a whole one.
 * `earlier`: there are older ones, before this place. `before`: those before a place that was given so. What lies far before them is not
 * read, where places are numbered.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for a place that the session does not have, `RESOURCE_EXHAUSTED / E_RATE_LIMIT`
 */
export async function newestEvents(exchange: HttpExchange, sessionId: string, before?: string): Promise<NewestEvents> {
  const { durable } = exchange.caller.held(sessionId).channel;
  const end = parseCursor(before ?? durable.cursor ?? '')?.seq ?? 0;
  for (let back = 2 * MAX_EVENTS; ; back *= 4) {
    const from = Math.max(0, end - back);
    const found = await eventsBehind(exchange, sessionId, { after: from > 0 ? cursorBehind(from) : undefined, before });
    // Of a log that was rewound many numbers stand for nothing: what counts lies before them.
    if (found) return found;
  }
}

/** Undefined: there may be more that a page has room for before what was read. */
async function eventsBehind(
  exchange: HttpExchange,
  sessionId: string,
  { after: begin, before }: { after: string | undefined; before: string | undefined },
): Promise<NewestEvents | undefined> {
  const { caller, held: counted } = exchange;
  let kept: Kept[] = [];
  let chars = 0;
  let last: Kept | undefined;
  let isFound = before === undefined;
  const drop = (count: number) => {
    if (count === 0) return;
    last = kept[count - 1];
    const given = kept.slice(0, count).reduce((sum, one) => sum + one.chars, 0);
    kept = kept.slice(count);
    chars -= given;
    counted.give(given);
  };
  for (let after = begin, more = true; more && !(before !== undefined && isFound); ) {
    let page: { events: AgentEvent[]; more: boolean };
    try {
      page = (await caller.call('session/events', given({ sessionId, after, limit: PAGE }))) as typeof page;
    } catch (error) {
      // An executor with other places: they are no numbers that can be counted back.
      if (after === undefined || after !== begin || !isCoxswainError(error) || error.code !== 'E_BAD_INPUT')
        throw error;
      return eventsBehind(exchange, sessionId, { after: undefined, before });
    }
    for (const event of page.events) {
      if (event.cursor === before && before !== undefined) {
        isFound = true;
        break;
      }
      const size = JSON.stringify(event).length;
      counted.take(size);
      chars += size;
      kept.push({ event, chars: size });
    }
    let over = 0;
    for (let left = chars; over < kept.length - 1 && (left > MAX_CHARS || kept.length - over > MAX_EVENTS); over++)
      left -= kept[over]?.chars ?? 0;
    drop(over);
    after = page.events.at(-1)?.cursor;
    more = page.more && page.events.length > 0;
  }
  if (begin !== undefined && (last === undefined || !isFound)) {
    drop(kept.length);
    return undefined;
  }
  if (!isFound) {
    const message = 'before is no place of this session; take what `earlier` of an answer says';
    throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
  }
  const turn = last?.event.turnId;
  // Of the turn whose beginning is left out, nothing; unless it is all there is room for.
  if (turn !== undefined)
    drop(
      Math.max(
        0,
        kept.findIndex(({ event }) => event.turnId !== undefined && event.turnId !== turn),
      ),
    );
  const earlier = last === undefined ? undefined : kept[0]?.event.cursor;
  return { events: kept.map(({ event }) => event), ...(earlier === undefined ? {} : { earlier }) };
}

/** Whether whoever asks may answer a question: policy lets them, and they have not approved what is shown. */
export const mayAnswerOf =
  ({ principal }: RequestCaller) =>
  (question: UiQuestion): boolean =>
    mayAnswer(question, principal);
