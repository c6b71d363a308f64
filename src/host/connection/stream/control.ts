import { CoxswainError } from '../../../contracts/index.ts';

/** What is controlled: a session, as a server shows it. */
interface Controlled {
  readonly session: { readonly id: string };
}

/** Told when somebody else takes over. */
export interface Controller<C extends Controlled> {
  controlLost(channel: C): void;
}

/** Who may change a session: one at a time, shown by a token that only the newest holder has. */
export class Control<C extends Controlled> {
  readonly #channel: C;
  #token: string | undefined;
  #holder: Controller<C> | undefined;

  constructor(channel: C) {
    this.#channel = channel;
  }

  /** Control for whoever had it before a lost connection, or for anybody who wants it while nobody has it. */
  offer(who: Controller<C>, token: string | undefined, wants: boolean): string | undefined {
    if (this.#holder === who) return this.#token;
    if (token !== undefined && token === this.#token) return this.#pass(who, token);
    return this.#holder || !wants ? undefined : this.#pass(who, crypto.randomUUID());
  }

  /** Control, whoever has it. */
  take(who: Controller<C>): string {
    return this.#pass(who, crypto.randomUUID());
  }

  /** The connection is gone; its token stays good until somebody else takes over. */
  leave(who: Controller<C>): void {
    if (this.#holder === who) this.#holder = undefined;
  }

  /** @throws CoxswainError `ABORTED / E_CONTROL_LOST` */
  assert(who: Controller<C>, token: string): void {
    if (this.#holder === who && token === this.#token) return;
    const message = `this client does not control session ${this.#channel.session.id}; watch it, or take control`;
    throw new CoxswainError('ABORTED', 'E_CONTROL_LOST', message);
  }

  holds(who: Controller<C>): boolean {
    return this.#holder === who;
  }

  #pass(who: Controller<C>, token: string): string {
    const before = this.#holder;
    this.#holder = who;
    this.#token = token;
    if (before && before !== who) before.controlLost(this.#channel);
    return token;
  }
}
