import type { ToolResult } from '../../contracts/index.ts';
import { boundedResult } from '../../gate/index.ts';
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
 * kept by the host, or as an artifact; without either it is dropped. Gives a promise only where something is kept.
 */
export function boundedAnswer(
  { engine }: Bounding,
  callId: string,
  result: ToolResult,
): BoundedAnswer | Promise<BoundedAnswer> {
  const artifactDelta: Record<string, number> = {};
  const bounded = boundedResult(engine, callId, result, () => engine.services.artifacts(artifactDelta));
  if (!(bounded instanceof Promise)) return { result: bounded, artifactDelta };
  return bounded.then((kept) => ({ result: kept, artifactDelta }));
}

/** The event of such a result says what is kept of it, beside what it said before. */
export function withBounded(event: StoredEvent, { artifactDelta }: BoundedAnswer): StoredEvent {
  if (Object.keys(artifactDelta).length > 0)
    event.actions.artifactDelta = { ...event.actions.artifactDelta, ...artifactDelta };
  return event;
}
