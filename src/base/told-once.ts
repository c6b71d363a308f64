type Warn = (message: string, error?: unknown) => void;

/** Failures of what is tried again and again: one cause is told once, until a try succeeds or fails for another cause. */
export class ToldOnce {
  #last: string | undefined;

  failed(warn: Warn | undefined, message: string, error: unknown): void {
    const cause = causeOf(error);
    if (cause === this.#last) return;
    this.#last = cause;
    warn?.(message, error);
  }

  succeeded(): void {
    this.#last = undefined;
  }
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as { code?: unknown };
  return `${typeof code === 'string' ? code : error.name}: ${error.message}`;
}
