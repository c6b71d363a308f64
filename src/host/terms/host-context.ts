import type { HostContext, Principal } from '../../contracts/index.ts';
import { storeGiven } from '../../contracts/index.ts';
import { boundsIn } from '../../gate/index.ts';
import type { HostOptions } from './options.ts';

/** What a host hands to the sources of its agents when they open a session, or list what is stored. */
export function hostContext(
  options: HostOptions,
  { userId, principal }: { userId: string; principal: Principal },
  warn: (message: string, error?: unknown) => void,
): HostContext {
  const { app, credentials, models, deps, hooks, telemetry, followPollMs, bus } = options;
  const { hookTimeoutMs, answerLimits } = options;
  const store = storeGiven(options, 'createHost: options');
  return {
    app,
    userId,
    principal,
    ...(store === undefined ? {} : { store }),
    ...(credentials === undefined ? {} : { credentials }),
    ...(models === undefined ? {} : { models }),
    ...(hooks ? { hooks } : {}),
    ...(hookTimeoutMs === undefined ? {} : { hookTimeoutMs }),
    ...(answerLimits ? { answerLimits } : {}),
    ...boundsIn(options),
    ...(telemetry ? { telemetry } : {}),
    ...(followPollMs === undefined ? {} : { followPollMs }),
    ...(bus ? { bus } : {}),
    warn,
    ...(deps === undefined ? {} : { deps }),
  };
}
