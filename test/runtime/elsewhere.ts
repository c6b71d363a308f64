import type { SessionService } from '../../src/runtime/index.ts';

/** Another process's view of a store: the same rows, no memory in common. */
export function elsewhere(service: SessionService): SessionService {
  return {
    create: (...args) => service.create(...args),
    get: (...args) => service.get(...args),
    list: (...args) => service.list(...args),
    delete: (...args) => service.delete(...args),
    append: (...args) => service.append(...args),
    acquire: (...args) => service.acquire(...args),
    holder: (...args) => service.holder(...args),
    fork: (...args) => service.fork(...args),
    openCalls: (...args) => service.openCalls(...args),
    openTurns: (...args) => service.openTurns(...args),
    close: async () => {},
  };
}
