import type { ToolResult } from '../../contracts/index.ts';
import { capResult } from '../../gate/index.ts';
import type { Event } from '../log/index.ts';
import type { EngineParts } from './run-parts.ts';

interface Bounding {
  readonly engine: Pick<EngineParts, 'maxResultBytes' | 'services' | 'spill'>;
}

/**
 * A result as large as a model is given it, whoever made it; the whole is kept by the host, or as an artifact, where
 * there is somebody to keep it.
 * @param delta gets file name → version of what is kept as an artifact
 */
export function boundedResult(
  { engine }: Bounding,
  callId: string,
  result: ToolResult,
  delta: Record<string, number> = {},
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

/** A result that somebody hands in, as it is stored. */
export interface BoundedAnswer {
  result: ToolResult;
  /** File name → version of what is kept as an artifact. */
  artifactDelta: Record<string, number>;
}

/** A promise only where something is to be kept. */
export function boundedAnswer(
  place: Bounding,
  callId: string,
  result: ToolResult,
): BoundedAnswer | Promise<BoundedAnswer> {
  const artifactDelta: Record<string, number> = {};
  const bounded = boundedResult(place, callId, result, artifactDelta);
  if (!(bounded instanceof Promise)) return { result: bounded, artifactDelta };
  return bounded.then((kept) => ({ result: kept, artifactDelta }));
}

/** The event of such a result says what is kept of it. */
export function withBounded(event: Event, { artifactDelta }: BoundedAnswer): Event {
  if (Object.keys(artifactDelta).length > 0) event.actions.artifactDelta = artifactDelta;
  return event;
}
