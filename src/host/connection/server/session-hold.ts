import type { AttachResult } from '../../../contracts/index.ts';
import type { ClaimedPosition } from '../../../session/resume/index.ts';
import type { Transport } from '../protocol/index.ts';
import type { Channel, Controller } from '../stream/index.ts';
import { Attachment } from '../stream/index.ts';

/** A connection that holds sessions. */
export interface SessionHolder {
  /** Who is in control, where this one is: a connection by itself, all requests of a server together. */
  readonly controller: Controller<Channel>;
  readonly transport: Transport;
  readonly hub: { release(channel: Channel): void };
  /** Its client does not read what it is sent. */
  slow(): void;
}

/** A session that one connection holds. */
export class SessionHold {
  readonly channel: Channel;
  attachment: Attachment | undefined;
  readonly #connection: SessionHolder;

  constructor(connection: SessionHolder, channel: Channel) {
    this.#connection = connection;
    this.channel = channel;
  }

  /** Puts the client where it says that it is; frames follow the answer. */
  attach(
    position: ClaimedPosition & { fencingToken?: string | undefined; control?: boolean | undefined },
  ): AttachResult {
    const { channel } = this;
    this.detach();
    const token = this.offer(position.control, position.fencingToken);
    const attachment = new Attachment(channel, this.#connection.transport, () => this.#connection.slow());
    this.attachment = attachment;
    const place = attachment.place(position);
    // Behind the answer: whoever reads it first knows what the frames mean.
    queueMicrotask(() => setImmediate(() => this.attachment === attachment && attachment.begin(place.recovered)));
    return {
      sessionId: channel.session.id,
      descriptor: channel.session.descriptor,
      ...place,
      ...(channel.streamId === undefined ? {} : { streamId: channel.streamId }),
      ...(channel.lastEnd === undefined ? {} : { lastEnd: channel.lastEnd }),
      ...(token === undefined ? {} : { fencingToken: token }),
    };
  }

  offer(control: boolean | undefined, token: string | undefined): string | undefined {
    return this.channel.control.offer(this.#connection.controller, token, control !== false);
  }

  detach(): void {
    this.attachment?.end();
    this.attachment = undefined;
  }

  release(): void {
    this.detach();
    this.channel.control.leave(this.#connection.controller);
    this.#connection.hub.release(this.channel);
  }

  async abort(reason: string): Promise<void> {
    const { channel } = this;
    try {
      if (channel.running) await channel.session.abort({ reason });
    } catch (error) {
      channel.options.warn(`session ${channel.session.id} could not be aborted`, error);
    }
  }
}
