import type { ClaimedPosition } from '../../session/resume/index.ts';
import type { Channel, FollowedSession, FrameWriter, RequestCaller } from '../connection/index.ts';
import { Attachment } from '../connection/index.ts';
import type { EventBody } from './event-body.ts';
import { EventFrames, positionOf } from './event-frames.ts';
import type { HttpExchange } from './exchange.ts';
import { eventAnswer, flagIn, given, jsonAnswer, numberIn, segment, textIn } from './exchange.ts';

/** What happens in a session, behind the place that the client names, and on. */
export async function followEvents(exchange: HttpExchange): Promise<Response> {
  const { caller, lastEventId } = exchange;
  const claimed = positionOf(lastEventId);
  const hasHistory = flagIn(exchange, 'history') ?? true;
  const sessionId = segment(exchange, 'session');
  const { channel } = await caller.takeUp(segment(exchange, 'agent'), sessionId);
  const followed = await caller.follow(sessionId, { ...claimed, history: hasHistory });
  await channel.assertCursor(claimed.cursor);
  caller.assertCurrent();
  const isNew = lastEventId === undefined || lastEventId === '';
  const position = isNew && !hasHistory ? newestPlace(channel) : placed(claimed, channel);
  const frames = (body: EventBody) => new EventFrames(channel, body, position.cursor);
  return watching(exchange, followed, position, { frames });
}

/** Stored events, as a page. */
export async function eventPage(exchange: HttpExchange): Promise<Response> {
  const { caller, lastEventId } = exchange;
  const sessionId = segment(exchange, 'session');
  await caller.takeUp(segment(exchange, 'agent'), sessionId);
  const { cursor: after } = positionOf(lastEventId);
  const page = await caller.call('session/events', given({ sessionId, after, limit: numberIn(exchange, 'limit') }));
  return jsonAnswer(200, page);
}

/** A message begins a turn, which goes on whoever reads; its events are the answer where the client takes them. */
export async function postMessage(exchange: HttpExchange): Promise<Response> {
  const { caller, body, key } = exchange;
  const sessionId = segment(exchange, 'session');
  const aborts = flagIn(exchange, 'abort-on-disconnect') ?? exchange.onDisconnect === 'abort';
  const hold = await caller.takeUp(segment(exchange, 'agent'), sessionId);
  const { channel } = hold;
  const followed = exchange.wantsEvents ? await caller.follow(sessionId) : undefined;
  // Of a key that comes again the same, so that it is the same request.
  const streamId = textIn(exchange, 'streamId') ?? key ?? crypto.randomUUID();
  const before = { place: newestPlace(channel), isKnown: isOf(channel, streamId) };
  const answer = (await caller.call('session/stream', {
    ...body,
    ...given({ sessionId, streamId, key, fencingToken: caller.token(hold, textIn(exchange, 'fencingToken')) }),
  })) as { streamId: string; duplicate?: boolean };
  if (!followed) return jsonAnswer(202, answer);
  // Of one that was begun before, all that is stored comes, too.
  const isAnew = !before.isKnown && !answer.duplicate && isOf(channel, streamId);
  const position = isAnew ? before.place : {};
  const frames = (body: EventBody) => new EventFrames(channel, body, position.cursor, streamId);
  return watching(exchange, followed, position, { frames, aborts: aborts ? streamId : undefined });
}

/** Behind the very frame, where it is kept: deltas between it and the newest durable event come, too. */
function placed(claimed: ClaimedPosition, { epoch, ring }: Channel): ClaimedPosition {
  if (claimed.offset !== undefined || claimed.cursor === undefined) return claimed;
  const offset = ring.offsetOf(claimed.cursor);
  return offset === undefined ? claimed : { ...claimed, epoch, offset };
}

/** Behind everything that has been shown. */
export function newestPlace({ epoch, ring, durable }: Channel): ClaimedPosition {
  return { epoch, offset: ring.head, ...(durable.cursor === undefined ? {} : { cursor: durable.cursor }) };
}

/** The stream runs, or is the newest that has ended. */
export function isOf({ streamId, lastEnd }: Channel, id: string): boolean {
  return streamId === id || lastEnd?.streamId === id;
}

export interface Watching {
  /** How what happens is put on its line. */
  frames: (body: EventBody) => FrameWriter;
  /** What is sent in place of `reconnect`. */
  farewell?: (reason: string) => string;
  /** The stream that ends with its client. */
  aborts?: string | undefined;
}

/** An answer that is what happens in a session behind a position. */
export function watching(
  exchange: HttpExchange,
  { channel }: FollowedSession,
  position: ClaimedPosition,
  { frames, farewell, aborts }: Watching,
): Response {
  const body = exchange.open((isGone) => {
    attachment.end();
    if (isGone && aborts !== undefined) void abort(exchange.caller, channel, aborts);
  }, farewell);
  const attachment = new Attachment(channel, body, () => body.reconnect('too slow'), frames(body));
  body.onDrain(() => attachment.drained());
  attachment.begin(attachment.place(position).recovered);
  return eventAnswer(body);
}

async function abort({ hub }: RequestCaller, channel: Channel, streamId: string): Promise<void> {
  if (channel.streamId !== streamId) return;
  try {
    await hub.during(channel.session.abort({ reason: 'the client is gone' }));
  } catch (error) {
    hub.options.warn(`session ${channel.session.id} could not be aborted`, error);
  }
}
