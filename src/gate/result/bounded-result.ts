import { newId } from '../../base/index.ts';
import type { ArtifactAccess, ToolResult } from '../../contracts/index.ts';
import type { CapOptions } from './cap-result.ts';
import { capResult } from './cap-result.ts';

// Who says how large a result may be, and where the whole of a larger one goes. Hosts, the runtime and executors of
// dispatch bound every result by what is here, whoever made it; how one is cut is `capResult`'s affair.

/** Keeps what is larger, and says under which name. The name that it is given is one that no other result has. */
type Spill = (name: string, body: string | Uint8Array) => Promise<string>;

/** What is said of large results: by who makes a host or a runner, and by a host to its executors. */
export interface ResultBounds {
  /** Bytes of JSON that a model is given of one result. Default 1 MiB. */
  readonly maxResultBytes?: number | undefined;
  /** The first place for what is larger. */
  readonly spill?: Spill | undefined;
}

/** All that bounding a result needs of a session's artifacts. */
export type ResultArtifacts = Pick<ArtifactAccess, 'save'>;

/**
 * A result as large as a model is given it. The whole is kept by `spill`; without it, in the session's `artifacts` where
 * there are any at hand; else it is dropped. Gives a promise only where something is kept; once the signal fires, that
 * is not waited for any longer.
 */
export function boundedResult(
  { maxResultBytes: maxBytes, spill }: ResultBounds,
  callId: string | undefined,
  result: ToolResult,
  artifacts?: () => ResultArtifacts,
  beside: Pick<CapOptions, 'signal' | 'note'> = {},
): ToolResult | Promise<ToolResult> {
  // Artifacts are of one session; `spill` keeps the results of all, whose executors number their calls as they like.
  if (spill) return capResult(result, { ...beside, callId: namedForAll(callId), maxBytes, spill });
  return capResult(result, { ...beside, callId, maxBytes, spill: artifacts && intoArtifacts(artifacts) });
}

/** A part of a file's name that no other result has: what of an id no file's name should have is left out. */
function namedForAll(callId = 'call'): string {
  return `${callId.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 64)}-${newId()}`;
}

function intoArtifacts(artifacts: () => ResultArtifacts): Spill {
  return async (name, body) => {
    const isText = typeof body === 'string';
    const mimeType = !isText ? 'application/octet-stream' : name.endsWith('.json') ? 'application/json' : 'text/plain';
    await artifacts().save(name, { mimeType, data: isText ? Buffer.from(body) : body });
    return name;
  };
}

/** The bounds among other options, to be handed on; no member where nothing is said. */
export function boundsIn({ maxResultBytes, spill }: ResultBounds): { maxResultBytes?: number; spill?: Spill } {
  return { ...(maxResultBytes === undefined ? {} : { maxResultBytes }), ...(spill ? { spill } : {}) };
}
