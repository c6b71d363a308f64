import { messageOf } from '../../contracts/index.ts';

/** Tells a listener, whose failure, now or later, is a warning and changes nothing. */
export function tell(
  what: string,
  listen: () => unknown,
  warn: (message: string, error?: unknown) => void = console.warn,
): void {
  const failed = (error: unknown) => warn(`${what} failed: ${messageOf(error)}`, error);
  try {
    const returned = listen();
    if (returned instanceof Promise) returned.catch(failed);
  } catch (error) {
    failed(error);
  }
}
