import type { AgentEvent, SessionPlace } from '../../contracts/index.ts';

/** What a receiver is owed. */
export interface Owed {
  readonly place: SessionPlace;
  readonly turnId: string;
  readonly to: string;
  /** Epoch milliseconds by the clock of the store. */
  readonly since: number;
  readonly due: number;
  /** How often it was tried. */
  readonly tries: number;
  /** Cursor of the turn's beginning; absent: its session is read from the start. */
  readonly from?: string;
  /** Not how the turn has ended, but that it waits for the answers to these requests, since the time of the newest one. */
  readonly waits?: { readonly requestIds: readonly string[]; readonly at: string };
  /** Of the requests for which that is owed already. */
  readonly waited?: string;
  /** When it was given up, by the clock of the store; why, in the words of the last try. */
  readonly givenUp?: { readonly at: number; readonly error: string };
}

/** How a turn stands that somebody looks at. */
export interface StandingTurn {
  /** It waits for a person: what it has asked, and when it has asked last. */
  waits?: { requestIds: string[]; at: string };
}

/** A message to a webhook that was not taken, for which nobody tries any more. */
export interface GivenUpWebhook extends SessionPlace {
  /** `webhook-id` of the message. */
  id: string;
  turnId: string;
  webhook: string;
  type: 'turn.ended' | 'turn.waits';
  tries: number;
  /** ISO 8601. */
  givenUpAt: string;
  /** What the last try has failed with: never the receiver's words. */
  error: string;
}

/** Messages to webhooks that were given up. */
export interface Webhooks {
  /** Newest first; of an app some thousands are kept at most. */
  givenUp(): Promise<GivenUpWebhook[]>;
  /** Has it tried again from now on, as often as a new one, under the same id. False: there is none of this id. */
  sendAgain(id: string): Promise<boolean>;
}

/** What they need of a host. */
export interface OutcomeHost {
  readonly app: string;
  /** Shows the stored events of a session behind a cursor; undefined: it was deleted. */
  turn(
    place: SessionPlace,
    after: string | undefined,
    look: (event: AgentEvent) => void,
  ): Promise<StandingTurn | undefined>;
  wakeAt(place: SessionPlace, at: Date): Promise<void>;
  warn(message: string, error?: unknown): void;
}
