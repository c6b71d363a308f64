import type { PutQuestion } from '../../contracts/index.ts';
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

/** What a host's questions were put with, in one event of the log. */
export async function storeQuestions(live: LiveSession, questions: readonly PutQuestion[]): Promise<void> {
  // Whoever holds the session has read on when its run began: no turn of anybody else has begun since.
  if (!live.holding) await live.catchUp();
  await storeBeside(live, (running) => ({
    event: createEvent({
      turnId: live.fold.turn?.id ?? '',
      streamId: originOf(running).streamId,
      author: 'user',
      actions: { questions: [...questions] },
    }),
    reaches: false,
  }));
}
