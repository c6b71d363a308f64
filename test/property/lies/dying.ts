import type { AgentSession, AgentSource, HostJournal } from '../../../src/contracts/index.ts';
import { CoxswainError } from '../../../src/contracts/index.ts';

const reaching: ReadonlySet<unknown> = new Set<keyof AgentSession>([
  'stream',
  'respond',
  'pending',
  'standing',
  'abort',
]);

/**
 * The death of a process: so many times it reaches its store or its executors, and then never again. What it does after
 * that nobody hears of.
 */
export function dying(times: number) {
  let left = times;
  const reach = () => {
    if (left-- > 0) return;
    throw new CoxswainError('UNAVAILABLE', 'E_STORE', 'this process is dead');
  };
  return {
    store: ({ journal }: { journal: HostJournal }): { journal: HostJournal } => ({
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
    }),
    source: (source: AgentSource): AgentSource => ({
      ...source,
      open: async (...given) =>
        new Proxy(await source.open(...given), {
          get(session, name) {
            const value: unknown = Reflect.get(session, name, session);
            if (typeof value !== 'function') return value;
            return (...args: unknown[]) => {
              if (reaching.has(name)) reach();
              return value.apply(session, args);
            };
          },
        }),
    }),
  };
}
