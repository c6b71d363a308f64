/** What `warn` is where nobody gives another. */
export function warnOnStderr(message: string, error?: unknown): void {
  console.warn(`coxswain: ${message}`, ...(error === undefined ? [] : [error]));
}
