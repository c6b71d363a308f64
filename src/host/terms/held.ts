import { channel } from 'node:diagnostics_channel';

/** Key of what a host holds now, by what it is: nothing, once it is closed. For whoever looks for what is not given back. */
export const held: unique symbol = Symbol.for('coxswain.held') as never;

export interface Holder {
  [held](): Record<string, number>;
}

const made = channel('coxswain:host');

/** A host is made: told on the diagnostics channel `coxswain:host`, where somebody listens. */
export function tellMade(host: Holder): void {
  if (made.hasSubscribers) made.publish(host);
}
