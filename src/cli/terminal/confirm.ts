import { Keys } from './keys.ts';
import type { Screen } from './screen.ts';
import { paint } from './text.ts';

/** Asks for one key, until it is `y` or something that means no. */
export async function confirm(screen: Screen, question: string, hint: string): Promise<boolean> {
  screen.hold();
  const keys = await Keys.open();
  try {
    for (;;) {
      screen.now(`${paint('yellow', '?')} ${question} ${paint('dim', `[${hint}]`)} `);
      const key = (await keys.next(new AbortController().signal))?.toLowerCase();
      screen.now(`${key === 'y' || key === 'n' ? key : ''}\n`);
      if (key === 'y') return true;
      if (key === 'n' || key === 'ctrl-c' || key === 'ctrl-d') return false;
    }
  } finally {
    keys.close();
    screen.release();
  }
}
