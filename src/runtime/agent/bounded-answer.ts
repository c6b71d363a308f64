import type { ToolResult } from '../../contracts/index.ts';
import type { ResultArtifacts } from '../../gate/index.ts';
import { boundedResult, keptWithin, truncatedOf } from '../../gate/index.ts';
import type { StoredEvent } from '../log/index.ts';
import type { EngineParts } from './run-parts.ts';

interface Bounding {
  readonly engine: Pick<EngineParts, 'maxResultBytes' | 'services' | 'spill'>;
}

/** A result as it is stored. {@link withBounded} puts both fields' facts on its event. */
export interface BoundedAnswer {
  result: ToolResult;
  /** File name → version of what is kept as an artifact. */
  artifactDelta: Record<string, number>;
}

/**
 * A result as large as a model is given it, whoever made it: the only way in which the runtime bounds one. The whole is
 * kept by the host, or as an artifact; without either it is dropped. Gives a promise only where something is kept, for
 * which nobody waits once `signal` fires.
 */
export function boundedAnswer(
  { engine }: Bounding,
  callId: string,
  given: ToolResult,
  signal?: AbortSignal,
): BoundedAnswer | Promise<BoundedAnswer> {
  const artifactDelta = keptBefore(engine.services, callId, given);
  // What `spill` has kept is no artifact: nobody here reads it by its name.
  const result = engine.spill ? given : keptWithin(given, (name) => Object.hasOwn(artifactDelta, name));
  const bounded = boundedResult(engine, callId, result, () => engine.services.artifacts(artifactDelta), {
    signal,
  });
  if (!(bounded instanceof Promise)) return { result: bounded, artifactDelta };
  return bounded.then((kept) => ({ result: kept, artifactDelta }));
}

/** Calls of one session of which it is known what was kept before their result was handed in: the newest. */
const MOST_LENT = 1_000;

/** What was kept by {@link lentArtifacts}, by services of a session and call. */
const lent = new WeakMap<object, Map<string, Record<string, number>>>();

/** Artifacts of the session for who bounds the result of a call before it is handed in, as a host does: its event notes what is kept. */
export function lentArtifacts({ engine: { services } }: Bounding, callId: string): ResultArtifacts {
  return {
    async save(name, content) {
      const delta: Record<string, number> = {};
      const version = await services.artifacts(delta).save(name, content);
      const calls = lent.get(services) ?? new Map<string, Record<string, number>>();
      lent.set(services, calls);
      const before = calls.get(callId);
      calls.delete(callId);
      calls.set(callId, { ...before, ...delta });
      const [oldest] = calls.keys();
      if (calls.size > MOST_LENT && oldest !== undefined) calls.delete(oldest);
      return version;
    },
  };
}

/** Of what was kept for the call, what this result says: another one, of somebody else, has nothing to do with it. */
function keptBefore(services: object, callId: string, result: ToolResult): Record<string, number> {
  const kept = lent.get(services)?.get(callId);
  const names = (kept && truncatedOf(result)?.artifacts) ?? [];
  return Object.fromEntries(Object.entries(kept ?? {}).filter(([name]) => names.includes(name)));
}

/** The event of such a result says what is kept of it, beside what it said before. */
export function withBounded(event: StoredEvent, { artifactDelta }: BoundedAnswer): StoredEvent {
  if (Object.keys(artifactDelta).length > 0)
    event.actions.artifactDelta = { ...event.actions.artifactDelta, ...artifactDelta };
  return event;
}
