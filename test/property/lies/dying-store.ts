import type { HostJournal } from '../../../src/contracts/index.ts';
import { CoxswainError } from '../../../src/contracts/index.ts';

/** A store whose journal a process reaches so many times, and then never again: what it does after that is not noted. */
export function dyingStore({ journal }: { journal: HostJournal }, times: number): { journal: HostJournal } {
  let left = times;
  const reach = () => {
    if (left-- > 0) return;
    throw new CoxswainError('UNAVAILABLE', 'E_STORE', 'this process is dead');
  };
  return {
    journal: {
      async read(...given) {
        reach();
        return journal.read(...given);
      },
      async append(...given) {
        reach();
        return journal.append(...given);
      },
      forget: (scope) => journal.forget(scope),
    },
  };
}
