import type { Channel, Controller } from '../stream/index.ts';

/** All requests of a server, as one of those who may be in control of a session: it is so while one of them changes it. */
export class RequestControl implements Controller<Channel> {
  readonly #users = new Map<Channel, number>();

  enter(channel: Channel): void {
    this.#users.set(channel, (this.#users.get(channel) ?? 0) + 1);
  }

  leave(channel: Channel): void {
    const left = (this.#users.get(channel) ?? 0) - 1;
    if (left > 0) {
      this.#users.set(channel, left);
      return;
    }
    this.#users.delete(channel);
    channel.control.leave(this);
  }

  /** The next request finds out. */
  controlLost(): void {}
}
