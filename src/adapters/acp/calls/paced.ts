import type { AnyMessage } from '@agentclientprotocol/sdk';
import { CoxswainError } from '../../../contracts/index.ts';
import { breath, inTime, OwedAnswers } from '../../../session/index.ts';

/** Milliseconds in which whoever is owed many answers takes one. */
const UNREAD_MS = 30_000;

/**
 * Reads of somebody no faster than they read: while a thousand answers are owed and the newest frame does not leave, nothing
 * more is read. Whoever takes nothing of it for so long is cut off.
 */
export class PacedFrames {
  readonly #who: string;
  readonly #owed = new OwedAnswers();
  /** A frame that is on its way. */
  #leaving: Promise<void> | undefined;

  constructor(who: string) {
    this.#who = who;
  }

  /** A frame has come. */
  came(frame: AnyMessage): void {
    this.#owed.asked(frame);
  }

  writable(inner: WritableStream<AnyMessage>): WritableStream<AnyMessage> {
    const writer = inner.getWriter();
    return new WritableStream<AnyMessage>({
      write: async (frame) => {
        this.#leaving = writer.write(frame);
        try {
          await this.#leaving;
        } finally {
          this.#leaving = undefined;
          this.#owed.answered(frame);
        }
      },
      close: () => writer.close(),
      abort: (reason) => writer.abort(reason),
    });
  }

  input(bytes: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = bytes.getReader();
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          await this.#clear();
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  }

  /** @throws CoxswainError `INTERNAL / E_AGENT_PROTOCOL` */
  async #clear(): Promise<void> {
    while (this.#owed.areTooMany) {
      // What is answered at once is on its way by then; what somebody works at holds up nobody.
      if (!this.#leaving) await breath();
      if (!this.#leaving) return;
      if (await inTime(this.#leaving, UNREAD_MS)) continue;
      const message = `${this.#who} has taken nothing of what it asked for, some thousand answers, for ${UNREAD_MS} ms: its connection was ended`;
      throw new CoxswainError('INTERNAL', 'E_AGENT_PROTOCOL', message);
    }
  }
}
