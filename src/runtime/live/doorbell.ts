import { isObject } from '../../base/index.ts';
import type { AgentEvent, Bus } from '../../contracts/index.ts';
import type { SessionKey, SessionService } from '../store/index.ts';

/** What programs over one store tell each other of a session: how far its log goes, and text that is not stored. */
export interface Told {
  /** seq of its newest event. */
  seq?: number;
  /** A piece of a partial message, with its length before that piece. */
  text?: { event: AgentEvent; from: number };
  /** Somebody has begun to listen, or has missed something: the text so far is wanted. */
  ask?: true;
}

const buses = new WeakMap<SessionService, Bus>();

/** From now on what is written to the store here is told there, and the reverse. */
export function joinBus(service: SessionService, bus: Bus | undefined): void {
  if (bus && !service.isPrivate) buses.set(service, bus);
}

export function hasBus(service: SessionService): boolean {
  return buses.has(service);
}

export function tellOthers(service: SessionService, key: SessionKey, told: Told): void {
  buses.get(service)?.publish(topicOf(key), JSON.stringify(told));
}

/** Until the returned function is called; undefined: nobody tells. */
export function hearOthers(
  service: SessionService,
  key: SessionKey,
  heard: (told: Told) => void,
  missed: () => void,
): (() => void) | undefined {
  return buses.get(service)?.subscribe(topicOf(key), (message) => heard(parse(message)), missed);
}

/** Whoever reaches the bus can say anything: what is stored is read from the store, and text is only shown. */
function parse(message: string): Told {
  try {
    const said: unknown = JSON.parse(message);
    return isObject(said) ? (said as Told) : {};
  } catch {
    return {};
  }
}

const topicOf = ({ app, userId, id }: SessionKey) => `session/${app}/${userId}/${id}`;
