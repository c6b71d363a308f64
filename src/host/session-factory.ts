import type { AgentDescriptor, AgentSession, HostContext, SessionCreator, SessionFactory } from '../contracts/index.ts';
import { CoxswainError } from '../contracts/index.ts';

/** Finds whoever can run a descriptor by its `executor`. */
export function createSessionFactory(): SessionFactory {
  const creators = new Map<string, SessionCreator>();
  return {
    register(executor, creator) {
      creators.set(executor, creator);
    },
    has: (executor) => creators.has(executor),
    async create(descriptor: AgentDescriptor, context: HostContext): Promise<AgentSession> {
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
