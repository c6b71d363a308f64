import type { SessionStanding } from '../../contracts/index.ts';
import type { Judge } from '../questions/index.ts';
import type { Handle } from './handle.ts';
import type { HostedFrame } from './hosted-frame.ts';

/** A hosted session, as its runs and its sub-agents use it. */
export interface Hosted extends Handle {
  readonly frame: HostedFrame;
  /** Of the handle that runs the session. */
  readonly judge: Judge;
  /** Whose `initialize` this handle has shown. */
  introducedBy: 'agent' | 'host' | undefined;
  standing(): Promise<SessionStanding>;
}
