import { CLOSE_CODES, CoxswainError } from '../../contracts/index.ts';
import { nameOfPrincipal } from '../../session/index.ts';
import type { Authorize, Hub, Identity } from '../connection/index.ts';
import { Connection, protocolError } from '../connection/index.ts';
import type { EventBody } from './event-body.ts';

export interface ConnectionsOptions {
  hub: Hub;
  authorize?: Authorize | undefined;
  onDisconnect: 'continue' | 'abort';
  log(entry: { event: string; [field: string]: unknown }): void;
}

interface Open {
  readonly connection: Connection;
  readonly body: EventBody;
}

/** Connections of the session protocol whose messages go by event stream and come by request. */
export class HttpConnections {
  readonly #options: ConnectionsOptions;
  readonly #open = new Map<string, Open>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** @throws CoxswainError `RESOURCE_EXHAUSTED / E_RATE_LIMIT` */
  begin(identity: Identity, makeBody: (over: () => void) => EventBody): EventBody {
    const { hub, authorize, onDisconnect, log } = this.#options;
    const id = crypto.randomUUID();
    const body = makeBody(() => {
      this.#open.get(id)?.connection.closed();
      this.#open.delete(id);
    });
    try {
      const connection = new Connection(hub, body, {
        identity,
        // Credentials came with the request.
        identify: async () => undefined,
        authorize,
        onDisconnect,
        log: (entry) => log({ ...entry, connection: id }),
      });
      this.#open.set(id, { connection, body });
    } catch (error) {
      body.leave();
      throw error;
    }
    body.write(`event: open\ndata: ${JSON.stringify({ id })}\n\n`);
    return body;
  }

  /**
   * Messages of a client, in their order. Resolves when the connection takes more. A connection ends with the first message
   * whose credentials give its client other roles than it was opened with: all that it is asked for would be decided by the former ones.
   * @throws CoxswainError `UNAVAILABLE / E_CONNECTION_LOST` for one that is not here, somebody else's, or ended so; `E_PROTOCOL`
   */
  async deliver(id: string, { principal }: Identity, messages: unknown): Promise<void> {
    const open = this.#open.get(id);
    if (!open || nameOfPrincipal(open.connection.principal) !== nameOfPrincipal(principal)) {
      const message = 'there is no such connection on this server; connect again';
      throw new CoxswainError('UNAVAILABLE', 'E_CONNECTION_LOST', message);
    }
    open.connection.renew(principal);
    if (!Array.isArray(messages)) throw protocolError('body.messages is no list of messages');
    for (const message of messages) await this.#take(open, JSON.stringify(message));
  }

  /** What a connection is told of a server that goes away. */
  goAway(deadlineMs: number): void {
    for (const { connection } of this.#open.values()) connection.notify('session/goAway', { deadlineMs });
  }

  close(): void {
    for (const { connection } of [...this.#open.values()]) {
      connection.close(CLOSE_CODES.goingAway, 'the server goes away');
    }
  }

  async #take({ connection, body }: Open, text: string): Promise<void> {
    const { maxPayload } = this.#options.hub.options.limits;
    if (text.length * 3 > maxPayload && Buffer.byteLength(text) > maxPayload) {
      connection.close(CLOSE_CODES.tooLarge, 'message too large');
      return;
    }
    await body.receive(text);
  }
}
