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

  async rung(): Promise<void> {
    if (!this.#isRung) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#wake = undefined;
    this.#isRung = false;
  }
}
