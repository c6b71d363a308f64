/** Where a session is, and whose agent goes on with it. */
export interface SessionPlace {
  agent: string;
  userId: string;
  sessionId: string;
}

/**
 * Brings sessions that have something to do to a program that runs them. It carries places alone: what there is to do
 * says the session's log, and who may do it says its lease. Looks are repeated and may be needless.
 */
export interface Dispatcher {
  /**
   * Once this has resolved, a look at the session begins in some program that serves, however often one of them dies.
   * Of several wakes that wait for the same session one remains. `priority`: what waits with a higher one is looked at first,
   * where the dispatcher knows of it; default 0.
   */
  wake(place: SessionPlace, options?: { priority?: number }): Promise<void>;
  /** The same at a time, or soon after it. */
  schedule(place: SessionPlace, at: Date): Promise<void>;
  /**
   * Calls `look` for sessions that are to be looked at, up to `concurrency` at a time and never twice at once for one
   * session here. A look that rejects is repeated, five times at most. `again`: another program had begun this look, and has died
   * or cannot be reached; a dispatcher that does not know leaves it out.
   * @returns what ends that: nothing new is taken, and it resolves when the looks that are under way are over
   */
  serve(
    look: (place: SessionPlace, options?: { again?: boolean }) => Promise<void>,
    options: { concurrency: number },
  ): Promise<() => Promise<void>>;
  /** Gives back what it holds. What is to be looked at stays where the dispatcher keeps it. */
  close(): Promise<void>;
}

/**
 * Carries short messages between programs, each to all who listen now. It may lose any of them: what it reports is looked up
 * in the store in any case, only later.
 */
export interface Bus {
  /** At once, without an answer; never throws. Messages are a few kilobytes at most: longer ones may be left out. */
  publish(topic: string, message: string): void;
  /**
   * Until the returned function is called. `missed`: messages may have been lost, as after a lost connection. The program that
   * publishes may hear it too.
   */
  subscribe(topic: string, heard: (message: string) => void, missed: () => void): () => void;
  close(): Promise<void>;
}

/** What a turn has come to, as it is sent. */
export interface OutcomeMessage {
  /** The same each time that it is sent: a receiver that knows it has it already. */
  id: string;
  /** Epoch milliseconds of this try. */
  at: number;
  /** JSON. */
  body: string;
}

/** Sends what turns have come to, to receivers that the program names, e.g. `webhooks({…})`. */
export interface Outcomes {
  readonly names: readonly string[];
  /** The receiver is sent the words of the agent, too. */
  takesAnswer(receiver: string): boolean;
  /** The receiver is sent that a turn waits for a person, too. Absent: none is. */
  takesWaits?(receiver: string): boolean;
  /** One try. `gone`: the receiver wants no more of it. Rejects where it has not taken it. */
  deliver(receiver: string, message: OutcomeMessage): Promise<'done' | 'gone'>;
}
