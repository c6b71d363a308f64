import type { ToolResult } from '../../contracts/index.ts';
import { capResult } from '../../gate/index.ts';
import type { Event } from '../log/index.ts';
import type { EngineParts } from './run-parts.ts';

interface Bounding {
  readonly engine: Pick<EngineParts, 'maxResultBytes' | 'services' | 'spill'>;
}

/** Asks the host to keep the whole, or keeps it as an artifact and notes file name → version in `delta`. */
function capped(
  { engine }: Bounding,
  callId: string,
  result: ToolResult,
  delta: Record<string, number>,
): ToolResult | Promise<ToolResult> {
  const { maxResultBytes: maxBytes, services } = engine;
  const spill =
    engine.spill ??
    (async (name: string, body: string | Uint8Array) => {
      const isText = typeof body === 'string';
      const mimeType = !isText
        ? 'application/octet-stream'
        : name.endsWith('.json')
          ? 'application/json'
          : 'text/plain';
      await services.artifacts(delta).save(name, { mimeType, data: isText ? Buffer.from(body) : body });
      return name;
    });
  return capResult(result, { callId, maxBytes, spill });
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
  place: Bounding,
  callId: string,
  result: ToolResult,
): BoundedAnswer | Promise<BoundedAnswer> {
  const artifactDelta: Record<string, number> = {};
  const bounded = capped(place, callId, result, artifactDelta);
  if (!(bounded instanceof Promise)) return { result: bounded, artifactDelta };
  return bounded.then((kept) => ({ result: kept, artifactDelta }));
}

/** The event of such a result says what is kept of it, beside what it said before. */
export function withBounded(event: Event, { artifactDelta }: BoundedAnswer): Event {
  if (Object.keys(artifactDelta).length > 0)
    event.actions.artifactDelta = { ...event.actions.artifactDelta, ...artifactDelta };
  return event;
}
