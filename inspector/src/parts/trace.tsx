import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Trace } from '../state/places.ts';
import { traceUrl } from '../state/sign-in.ts';

/** The trace of a turn: its id, to be copied, and a link where the server says where traces are looked at. */
export function TraceLink({ trace }: { trace: Trace }): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  const { traceId, spanId } = trace;
  const href = addressOf(traceUrl.value, trace);
  return (
    <p class="trace">
      Trace{' '}
      <code title={`span ${spanId}`}>
        {href === undefined ? (
          traceId
        ) : (
          <a href={href} target="_blank" rel="noreferrer noopener">
            {traceId}
          </a>
        )}
      </code>{' '}
      <button
        type="button"
        class="quiet"
        onClick={() =>
          void navigator.clipboard.writeText(traceId).then(
            () => setCopied(true),
            () => setCopied(false),
          )
        }
      >
        Copy
      </button>
      <span role="status">{isCopied && ' copied'}</span>
    </p>
  );
}

/** The server has looked at the address; a page makes no link of another kind, whatever it is given. */
function addressOf(template: string | undefined, { traceId, spanId }: Trace): string | undefined {
  const address = template?.replaceAll('{traceId}', traceId).replaceAll('{spanId}', spanId);
  if (address === undefined || !URL.canParse(address)) return undefined;
  return /^https?:$/.test(new URL(address).protocol) ? address : undefined;
}
