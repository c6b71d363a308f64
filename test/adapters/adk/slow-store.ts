import { InMemorySessionService } from '../../../src/index.ts';

/** A store that takes its time, as those on disk do: what is asked of it meanwhile comes before what it stores. */
export class SlowStore extends InMemorySessionService {
  override async append(...args: Parameters<InMemorySessionService['append']>) {
    await new Promise((resolve) => setImmediate(resolve));
    return super.append(...args);
  }
}
