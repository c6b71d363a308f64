import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { OwedAnswers } from '../../../../session/index.ts';

/** Answers that are on their way at once: over HTTP each has a request of its own, and a socket. */
const AT_ONCE = 8;

/** What a server asks over one connection: one that asks without an end, and takes no answers, is not listened to. */
export class ServerRequests {
  readonly #owed = new OwedAnswers();
  readonly #waiting: (() => void)[] = [];
  #underWay = 0;
  #isOver = false;
  #onFlood = () => {};

  /** Whether the protocol is to get a message. */
  takes(message: JSONRPCMessage): boolean {
    if (this.#isOver) return false;
    this.#owed.asked(message);
    if (!this.#owed.areTooMany) return true;
    this.#isOver = true;
    for (const go of this.#waiting.splice(0)) go();
    this.#onFlood();
    return false;
  }

  /** Answers leave in their order, some at a time. `onFlood`: called once, where as many are owed as nobody means to read. */
  bound(transport: Transport, onFlood: () => void): void {
    this.#onFlood = onFlood;
    const send = transport.send.bind(transport);
    transport.send = (message, options) =>
      Array.isArray(message) || 'method' in message
        ? send(message, options)
        : this.#answer(message, () => send(message, options));
  }

  async #answer(message: JSONRPCMessage, send: () => Promise<void>): Promise<void> {
    if (this.#underWay >= AT_ONCE && !this.#isOver) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#isOver) return;
    this.#underWay++;
    try {
      await send();
    } finally {
      this.#underWay--;
      this.#owed.answered(message);
      this.#waiting.shift()?.();
    }
  }
}
