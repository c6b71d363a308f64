import type { AgentDescriptor, AgentSession, HostContext, SessionCreator, SessionFactory } from '../contracts/index.ts';
import { CoxswainError } from '../contracts/index.ts';
import type { Check } from '../session/index.ts';
import { checkIs, fn, name, object } from '../session/index.ts';

const described: Check = {
  needs: 'a descriptor, with name and executor',
  fits: (value) =>
    object.fits(value) && name.fits((value as AgentDescriptor).name) && name.fits((value as AgentDescriptor).executor),
};

/** Finds the factory that can run a descriptor by its `executor`. */
export function createSessionFactory(): SessionFactory {
  const creators = new Map<string, SessionCreator>();
  return {
    register(executor, creator) {
      checkIs(executor, 'register: executor', name);
      checkIs(creator, 'register: creator', fn);
      creators.set(executor, creator);
    },
    has: (executor) => creators.has(executor),
    async create(descriptor: AgentDescriptor, context: HostContext): Promise<AgentSession> {
      checkIs(descriptor, 'create: descriptor', described);
      const creator = creators.get(descriptor.executor);
      if (!creator) {
        const known = [...creators.keys()].join(', ') || 'none';
        throw new CoxswainError(
          'NOT_FOUND',
          'E_NO_EXECUTOR',
          `nothing here runs executor ${JSON.stringify(descriptor.executor)} of agent ${descriptor.name}; known: ${known}`,
        );
      }
      return creator(descriptor, context);
    },
  };
}
