import type { WebSocketClass, WebSocketLike } from '../../src/adapters/remote/index.ts';

export interface Flaky {
  WebSocket: WebSocketClass;
  /** Connections that were made. */
  readonly made: number;
  /** Loses the connection at hand now. */
  drop(): void;
  /** Puts a message between those of the server. */
  inject(text: string): void;
}

/** A network that loses a connection after so many frames, whichever way they go: in the air, unanswered. */
export function flaky(plan: Iterable<number>, Socket: WebSocketClass = WebSocket as unknown as WebSocketClass): Flaky {
  const left = plan[Symbol.iterator]();
  let made = 0;
  let current: FlakySocket | undefined;

  class FlakySocket implements WebSocketLike {
    onopen: WebSocketLike['onopen'] = null;
    onmessage: WebSocketLike['onmessage'] = null;
    onclose: WebSocketLike['onclose'] = null;
    onerror: WebSocketLike['onerror'] = null;
    readonly #socket: WebSocketLike;
    /** Frames until it is lost; the handshake (initialize, its answer) is spared. */
    #frames: number;
    #lost = false;

    constructor(url: string, protocols: string[]) {
      made++;
      const next = left.next();
      this.#frames = next.done ? Number.POSITIVE_INFINITY : next.value + 2;
      this.#socket = new Socket(url, protocols);
      current = this;
      this.#socket.onopen = (event) => this.onopen?.(event);
      this.#socket.onmessage = (event) => {
        if (this.#passes()) this.onmessage?.(event);
      };
      this.#socket.onclose = (event) => {
        if (!this.#lost) this.onclose?.(event);
      };
      this.#socket.onerror = () => {};
    }

    get bufferedAmount(): number {
      return this.#socket.bufferedAmount;
    }

    send(data: string): void {
      if (this.#passes()) this.#socket.send(data);
    }

    close(code?: number, reason?: string): void {
      this.#socket.close(code, reason);
    }

    lose(): void {
      if (this.#lost) return;
      this.#lost = true;
      this.#socket.close();
      queueMicrotask(() => this.onclose?.({ code: 1006, reason: '' } as never));
    }

    #passes(): boolean {
      if (this.#lost) return false;
      if (--this.#frames >= 0) return true;
      this.lose();
      return false;
    }
  }

  return {
    WebSocket: FlakySocket,
    get made() {
      return made;
    },
    drop: () => current?.lose(),
    inject: (text) => current?.onmessage?.({ data: text } as never),
  };
}
