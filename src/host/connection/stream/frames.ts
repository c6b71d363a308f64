import type { Transport } from '../protocol/index.ts';
import { noticeText } from '../protocol/index.ts';
import type { Channel } from './channel.ts';

/** What is known of an event beside its JSON. */
export interface FramePlace {
  /** Of the newest frame that it stands for; absent on durable history. */
  offset?: number | undefined;
  /** Of the first one, where deltas were joined. */
  from?: number | undefined;
  /** Of a delta: characters of its part that came before it. */
  at?: number | undefined;
  /** Of a durable event. */
  cursor?: string | undefined;
  streamId?: string | undefined;
  /** It is the end of its stream. */
  isEnd?: boolean | undefined;
}

/** How what a watcher is sent is put on its line. */
export interface FrameWriter {
  /** Whether the other side says what it has: so many frames may be on their way, `limits.window`. */
  readonly isAcknowledged: boolean;
  event(text: string, place: FramePlace): void;
  /** Frames were lost, durable history follows (`session/reset`); or history has been sent (`session/live`). */
  notice(method: 'session/reset' | 'session/live', offset: number): void;
}

/** Frames as notices of the session protocol. */
export function rpcFrames({ session, epoch }: Channel, transport: Pick<Transport, 'send'>): FrameWriter {
  const sessionId = JSON.stringify(session.id);
  const start = `{"jsonrpc":"2.0","method":"session/event","params":{"sessionId":${sessionId},"epoch":${JSON.stringify(epoch)},`;
  return {
    isAcknowledged: true,
    event(text, { offset, from, at }) {
      const place =
        (offset === undefined ? '' : `"offset":${offset},`) +
        (from === undefined ? '' : `"from":${from},`) +
        (at === undefined ? '' : `"at":${at},`);
      transport.send(`${start}${place}"event":${text}}}`);
    },
    notice: (method, offset) => transport.send(noticeText(method, { sessionId: session.id, epoch, offset })),
  };
}
