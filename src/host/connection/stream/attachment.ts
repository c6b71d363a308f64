import type { AttachResult } from '../../../contracts/index.ts';
import type { ClaimedPosition } from '../../../session/resume/index.ts';
import {
  joinedDeltas,
  MAX_JOINED_DELTAS,
  parseCursor,
  restartPlace,
  resumePlace,
} from '../../../session/resume/index.ts';
import type { RingEntry, Transport } from '../protocol/index.ts';
import { wireEvent } from '../protocol/index.ts';
import type { Channel } from './channel.ts';
import type { FrameWriter } from './frames.ts';
import { rpcFrames } from './frames.ts';

/** Milliseconds that a client which has newer events than this server waits at most to be sent `session/live`. */
const LEVEL_MS = 2000;

/** One watcher of a channel: what it has been sent, what it has acknowledged, and what it can be sent now. */
export class Attachment {
  readonly channel: Channel;
  readonly #transport: Pick<Transport, 'bufferedAmount' | 'unwritten'>;
  readonly #slow: () => void;
  readonly #frames: FrameWriter;
  #next = 0;
  #acked = 0;
  /** Of the newest durable event that was sent. */
  #cursor: string | undefined;
  /** History is being read; frames wait in the ring. */
  #isReading = true;
  #ended = false;
  /** History is read up to here; what is newer comes as frames. */
  #until: string | undefined;
  /** It has been sent what this server has not shown yet: frames up to the one with this cursor are not for it. */
  #ahead: string | undefined;
  #late: NodeJS.Timeout | undefined;
  #stalled: NodeJS.Timeout | undefined;
  #room: (() => void) | undefined;

  constructor(
    channel: Channel,
    transport: Pick<Transport, 'bufferedAmount' | 'unwritten' | 'send'>,
    slow: () => void,
    frames: FrameWriter = rpcFrames(channel, transport),
  ) {
    this.channel = channel;
    this.#transport = transport;
    this.#slow = slow;
    this.#frames = frames;
  }

  /** Where the client is put; {@link begin} sends what it lacks. */
  place(position: ClaimedPosition): Pick<AttachResult, 'epoch' | 'recovered' | 'offset' | 'cursor'> {
    const { epoch } = this.channel;
    const { recovered, offset, after, until } = resumePlace(position, this.channel);
    this.#next = offset + 1;
    this.#acked = offset;
    this.#until = until;
    this.#cursor = after;
    return { epoch, recovered, offset, ...(until === undefined ? {} : { cursor: until }) };
  }

  /** Sends what the client lacks, then what happens next. */
  begin(recovered: boolean): void {
    this.channel.attachments.add(this);
    if (recovered) {
      this.#isReading = false;
      this.pump();
    } else void this.#readHistory();
  }

  ack(offset: number): void {
    if (offset <= this.#acked || offset >= this.#next) return;
    this.#acked = offset;
    this.#progress();
  }

  /** The socket has written what waited. */
  drained(): void {
    this.#progress();
  }

  /** Sends as much as the client can take now. */
  pump(): void {
    if (this.#isReading || this.#ended) return;
    const { ring } = this.channel;
    if (this.#ahead !== undefined) {
      if (!this.#isLevel()) return;
      this.#live();
    }
    while (this.#next <= ring.head) {
      if (!this.#hasRoom()) {
        this.#stall();
        return;
      }
      const entry = ring.get(this.#next);
      if (!entry) {
        void this.#reset();
        return;
      }
      this.#send(entry);
    }
    this.#unstall();
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#late);
    this.#unstall();
    this.channel.attachments.delete(this);
    this.#room?.();
  }

  #hasRoom(): boolean {
    const { window, highWaterBytes } = this.channel.options.limits;
    const isAhead = this.#frames.isAcknowledged && this.#next - this.#acked > window;
    return !isAhead && this.#transport.bufferedAmount < highWaterBytes;
  }

  #send(entry: RingEntry): void {
    const first = this.#next;
    let { text } = entry;
    let last = first;
    // Who is behind gets adjacent deltas in one frame.
    if (entry.joins && this.channel.ring.head - first > MAX_JOINED_DELTAS) {
      const joined = joinedDeltas(entry, (index) => this.channel.ring.get(first + index));
      text = joined.text;
      last = first + joined.count - 1;
    }
    this.#next = last + 1;
    if (entry.cursor !== undefined) this.#cursor = entry.cursor;
    const { at, cursor, streamId, isEnd } = entry;
    this.#frames.event(text, { offset: last, from: last === first ? undefined : first, at, cursor, streamId, isEnd });
  }

  /** Leaves out the frames of what was sent as history, or by another server; false: they have not all been shown here. */
  #isLevel(): boolean {
    const { ring } = this.channel;
    while (this.#ahead !== undefined) {
      if (this.#next > ring.head) return false;
      const entry = ring.get(this.#next);
      if (!entry) {
        void this.#reset();
        return false;
      }
      const order = entry.cursor === undefined ? -1 : orderOf(entry.cursor, this.#ahead);
      if (order >= 0) this.#ahead = undefined;
      if (order > 0) break;
      this.#acked = this.#next++;
    }
    return true;
  }

  /** What the client has is not shown here in time. */
  #wait(): void {
    // Cursors of another form have no order: what comes may be all new.
    if (this.#ahead !== undefined && !parseCursor(this.#ahead)) this.#ahead = undefined;
    this.#live();
    this.pump();
  }

  /** The history has been sent. */
  #live(): void {
    clearTimeout(this.#late);
    this.#late = undefined;
    this.#frames.notice('session/live', this.#next - 1);
  }

  /** The ring has gone on without this client: it is told, and gets the durable history instead. */
  async #reset(): Promise<void> {
    const { offset, until } = restartPlace(this.channel, this.#cursor);
    clearTimeout(this.#late);
    this.#isReading = true;
    this.#next = offset + 1;
    this.#acked = offset;
    this.#until = until;
    this.#frames.notice('session/reset', offset);
    await this.#readHistory();
  }

  async #readHistory(): Promise<void> {
    const { channel } = this;
    const until = this.#until;
    try {
      if (until !== this.#cursor) await this.#sendHistory(until);
    } catch (error) {
      channel.options.warn(`the history of session ${channel.session.id} could not be read`, error);
      this.#slow();
      return;
    }
    if (this.#ended) return;
    this.#isReading = false;
    // What this server is about to show is not all new to the client: its offset is not known yet.
    if (this.#ahead === undefined) this.#live();
    else this.#late = setTimeout(() => this.#wait(), LEVEL_MS).unref();
    this.pump();
  }

  async #sendHistory(until: string | undefined): Promise<void> {
    const { session, options } = this.channel;
    const after = this.#cursor;
    this.#ahead = undefined;
    for await (const event of session.events(after === undefined ? {} : { after })) {
      while (!this.#ended && this.#transport.bufferedAmount >= options.limits.highWaterBytes) {
        this.#stall();
        await new Promise<void>((resolve) => {
          this.#room = resolve;
        });
      }
      if (this.#ended) return;
      const { cursor, streamId, type } = event;
      const isEnd = type === 'stream_end';
      this.#frames.event(wireEvent(event, options.limits.maxPayload), { cursor, streamId, isEnd });
      this.#cursor = cursor ?? this.#cursor;
      if (event.cursor === until) return;
    }
    this.#ahead = this.#cursor;
  }

  #progress(): void {
    this.#unstall();
    this.#room?.();
    this.#room = undefined;
    this.pump();
  }

  #stall(): void {
    const before = this.#transport.unwritten;
    const look = () => {
      this.#stalled = undefined;
      // Slow is not stuck.
      if (this.#transport.unwritten < before) this.#stall();
      else this.#slow();
    };
    this.#stalled ??= setTimeout(look, this.channel.options.limits.stallMs).unref();
  }

  #unstall(): void {
    clearTimeout(this.#stalled);
    this.#stalled = undefined;
  }
}

/** Above 0: the event of the first cursor comes after that of the second one. Below it also: that is not known. */
function orderOf(cursor: string, than: string): number {
  if (cursor === than) return 0;
  const [one, other] = [parseCursor(cursor), parseCursor(than)];
  return one && other ? one.seq - other.seq || one.n - other.n : -1;
}
