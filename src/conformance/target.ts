import type { AgentDescriptor, AgentSession, AgentSource, SessionFactory, SessionRef } from '../contracts/index.ts';
import { Untestable } from './requirement.ts';

/** One executor that was started for one check. */
export interface RunningExecutor {
  /** A session: a new one, or the one that `ref` names. */
  open(ref?: SessionRef): Promise<AgentSession>;
  /** Ends it: processes, sockets, stores. */
  close?(): Promise<void>;
}

/** What the kit judges. */
export interface ConformanceTarget {
  readonly name: string;
  /** A fresh executor that shares nothing with the ones before it. */
  start(): Promise<RunningExecutor>;
}

/** The app that sessions of the kit belong to. */
const APP = 'conformance';

/** A target over whatever opens sessions: `make` is called once a check. */
export function targetOfSource(name: string, make: () => AgentSource | Promise<AgentSource>): ConformanceTarget {
  return {
    name,
    async start() {
      const source = await make();
      return { open: (ref = {}) => source.open(ref, { app: APP }) };
    },
  };
}

/** A target over a session factory, which opens new sessions only: what needs an old one cannot be tested. */
export function targetOfFactory(
  name: string,
  descriptor: AgentDescriptor,
  make: () => SessionFactory | Promise<SessionFactory>,
): ConformanceTarget {
  return {
    name,
    async start() {
      const factory = await make();
      return {
        async open(ref = {}) {
          if (ref.sessionId !== undefined) throw new Untestable('a session factory opens no session by its id');
          return factory.create(descriptor, { app: APP });
        },
      };
    },
  };
}
