import type { AgentEvent } from '../../contracts/index.ts';
import type { AgUiEvent, AgUiRequest } from '../../session/ag-ui/index.ts';
import { AgUiWriter, agUiMessages, answerOfResume, readAgUi } from '../../session/ag-ui/index.ts';
import type { Channel, FollowedSession, FramePlace, FrameWriter } from '../connection/index.ts';
import type { EventBody } from './event-body.ts';
import type { HttpExchange } from './exchange.ts';
import { given, segment } from './exchange.ts';
import { isOf, newestPlace, watching } from './follow-session.ts';
import { endsWithPage, mayAnswerOf, newestEvents, questionsOf } from './ui-chat.ts';

/**
 * One run of AG-UI: the person's newest message, or answers to interrupts; with neither, the session as it stands, and the turn
 * that runs. The answer is the run's events.
 */
export async function postAgUi(exchange: HttpExchange): Promise<Response> {
  const { caller, key } = exchange;
  const asked = readAgUi(exchange.body);
  const { threadId: sessionId, runId, message } = asked;
  const agent = segment(exchange, 'agent');
  await caller.call('session/open', { agent, sessionId, create: true, attach: false, control: false });
  const hold = caller.held(sessionId);
  const { channel } = hold;
  const followed = await caller.follow(sessionId);
  const writer = new AgUiWriter({ threadId: sessionId, runId, mayAnswer: mayAnswerOf(caller) });
  const answered = await respond(exchange, asked, () => caller.token(hold, undefined));
  // Answered by somebody else meanwhile, or nothing is asked for: the session is shown.
  if (!message && (answered === 0 || channel.streamId !== undefined)) return standing(exchange, followed, writer);
  // Of the message, so that one that is sent again is the same request.
  const streamId = message ? `ag-ui-${message.id}` : crypto.randomUUID();
  const before = { place: newestPlace(channel), isKnown: isOf(channel, streamId) };
  const { duplicate } = (await caller.call('session/stream', {
    input: message ? message.input : { kind: 'continue' },
    ...given({ sessionId, streamId, key: key ?? (message && streamId), fencingToken: caller.token(hold, undefined) }),
  })) as { duplicate?: boolean };
  const isAnew = !before.isKnown && !duplicate && isOf(channel, streamId);
  const aborts = (endsWithPage(exchange) ?? exchange.onDisconnect === 'abort') ? streamId : undefined;
  const frames = (body: EventBody) => new AgUiFrames(channel, body, writer, { only: streamId });
  return watching(exchange, followed, isAnew ? before.place : {}, { frames, farewell, aborts });
}

/** Answers count where their question is open, and no more than any answer. */
async function respond(
  exchange: HttpExchange,
  { threadId, resume }: AgUiRequest,
  token: () => string,
): Promise<number> {
  if (resume.length === 0) return 0;
  const open = await questionsOf(exchange.caller, threadId);
  const answers = resume.flatMap((entry) => answerOfResume(entry, open) ?? []);
  for (const { requestId, answer } of answers) {
    const params = { sessionId: threadId, requestId, answer, fencingToken: token() };
    await exchange.caller.call('session/respond', params);
  }
  return answers.length;
}

/** The session as it stands, then the turn that runs, to its end. */
async function standing(exchange: HttpExchange, followed: FollowedSession, writer: AgUiWriter): Promise<Response> {
  const { caller } = exchange;
  const { channel } = followed;
  const sessionId = channel.session.id;
  const { events } = await newestEvents(exchange, sessionId);
  const open = await questionsOf(caller, sessionId);
  const { cursor } = events.at(-1) ?? {};
  const shown = agUiMessages(events);
  // From here on what is written counts.
  exchange.held.giveAll();
  const frames = (body: EventBody) => new AgUiFrames(channel, body, writer, { shown, open });
  return watching(exchange, followed, given({ cursor }), { frames, farewell });
}

const lineOf = (event: AgUiEvent): string => `data: ${JSON.stringify(event)}\n\n`;

/** What a client is told where it is to come back. */
function farewell(reason: string): string {
  return lineOf({ type: 'RUN_ERROR', message: `${reason}; come back`, code: 'E_CONNECTION_LOST' });
}

type Shows = { only: string } | { shown: ReturnType<typeof agUiMessages>; open: Parameters<AgUiWriter['end']>[1] };

/** A run as an event stream: of one stream of the session, or of the session as it stands. */
class AgUiFrames implements FrameWriter {
  readonly isAcknowledged = false;
  readonly #channel: Channel;
  readonly #body: EventBody;
  readonly #writer: AgUiWriter;
  readonly #shows: Shows;

  constructor(channel: Channel, body: EventBody, writer: AgUiWriter, shows: Shows) {
    this.#channel = channel;
    this.#body = body;
    this.#writer = writer;
    this.#shows = shows;
    const shown: AgUiEvent[] = 'shown' in shows ? [{ type: 'MESSAGES_SNAPSHOT', messages: shows.shown }] : [];
    this.#say([...writer.begin(), ...shown]);
  }

  event(text: string, { streamId, isEnd }: FramePlace): void {
    if ('only' in this.#shows && streamId !== this.#shows.only) return;
    this.#say(this.#writer.write(JSON.parse(text) as AgentEvent), isEnd);
  }

  notice(method: 'session/reset' | 'session/live'): void {
    if (method === 'session/reset') return;
    const { streamId, lastEnd } = this.#channel;
    if ('only' in this.#shows) {
      // A stream that runs no more has no end to wait for.
      if (streamId === this.#shows.only) return;
      const isKnown = lastEnd?.streamId === this.#shows.only;
      this.#say(isKnown ? this.#writer.write(lastEnd) : this.#writer.end('completed'), true);
    } else if (streamId === undefined) this.#say(this.#writer.end('completed', this.#shows.open), true);
  }

  #say(events: readonly AgUiEvent[], isLast = false): void {
    if (events.length > 0) this.#body.write(events.map(lineOf).join(''));
    if (isLast) this.#body.finish();
  }
}
