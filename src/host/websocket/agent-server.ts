import type { Server } from 'node:http';

export interface AgentServer {
  /** `ws://host:port/v1` */
  readonly url: string;
  readonly port: number;
  readonly http: Server;
  /** The token that lets a client in; absent where `authenticate` was given. */
  readonly token: string | undefined;
  /**
   * A code that signs one page of the inspector in as whoever `token` is, once, within ten minutes; the code before is void.
   * Undefined without `token` or `ui`.
   */
  signInCode(): string | undefined;
  /** Connections and event streams. */
  readonly connections: number;
  /**
   * Plain HTTP, where `http` was given: for a framework that routes to it. A server that is made here does so by itself.
   * Never rejects.
   */
  fetch(request: Request): Promise<Response>;
  /** Takes nobody new, lets what runs finish until the deadline, then closes every connection to come back. */
  close(options?: { deadlineMs?: number }): Promise<void>;
}
