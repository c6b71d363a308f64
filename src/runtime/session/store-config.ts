import type { LiveSession } from '../live/index.ts';
import { createEvent } from '../log/index.ts';
import { originOf } from './abort-part.ts';
import { storeBeside } from './store-beside.ts';

/** Stores settings of a session, which hold from the next step on. They have been checked. */
export async function storeConfig(live: LiveSession, config: Record<string, unknown>): Promise<void> {
  await live.catchUp();
  await storeBeside(live, (running) => ({
    event: createEvent({
      turnId: live.fold.turn?.id ?? '',
      streamId: originOf(running).streamId,
      author: 'user',
      actions: { config },
    }),
    reaches: running?.closing === false,
  }));
}
