/** Wakes whoever waits, or whoever waits next. */
export class Bell {
  #wake: (() => void) | undefined;
  #isRung = false;

  /** Nobody has waited since it was rung. */
  get isRung(): boolean {
    return this.#isRung;
  }

  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  rung(): Promise<void> {
    if (this.#isRung) {
      this.#heard();
      return Promise.resolve();
    }
    return new Promise<void>((resolve) => {
      this.#wake = resolve;
    }).then(() => this.#heard());
  }

  #heard(): void {
    this.#wake = undefined;
    this.#isRung = false;
  }
}
