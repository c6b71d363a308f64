import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Kept, WatchedSession } from '../state/sessions.ts';
import { DisplayPart, TextLines } from './display.tsx';
import { Visible } from './visible.tsx';

/** Text, whatever language it is in: it is shown as it is written, and never as what it describes. */
const TEXT = /^(?:text\/[^;]+|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-ndjson|jsonl|javascript))\s*(?:;|$)/i;
const PICTURE = /^image\/(?:png|jpeg|gif|webp|avif)$/;

/** What is in one version of an artifact, once it is asked for. */
export function ArtifactContent({
  watched,
  name,
  version,
}: {
  watched: WatchedSession;
  name: string;
  version: number;
}): JSX.Element {
  const [kept, setKept] = useState<Kept>();
  const [fault, setFault] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const read = async () => {
    setBusy(true);
    setFault(undefined);
    try {
      setKept(await watched.artifact(name, version));
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      {!kept && (
        <button type="button" class="quiet" disabled={isBusy} onClick={() => void read()}>
          Show content
        </button>
      )}
      {fault !== undefined && (
        <p class="notice bad" role="alert">
          <Visible text={fault} />
        </p>
      )}
      {kept && <Content kept={kept} />}
    </>
  );
}

function Content({ kept }: { kept: Kept }): JSX.Element {
  const { name, version, mimeType = '', size = 0, data, withheld } = kept;
  const facts = `${mimeType} · ${size.toLocaleString()} bytes`;
  if (version === undefined) return <p class="soft">It is not there any more.</p>;
  if (withheld !== undefined) {
    return (
      <p class="soft">
        <Visible text={`${facts} · not shown: ${withheld}`} />
      </p>
    );
  }
  if (data === undefined) {
    return (
      <p class="soft">
        <Visible text={`${facts} · too large to be shown here`} />
      </p>
    );
  }
  const part = `${name} ${version}`;
  const label = `Content of ${name}, version ${version}`;
  return (
    <section aria-label={label}>
      <p class="soft">
        <Visible text={facts} />{' '}
        <button type="button" class="quiet" onClick={() => save(name, data)}>
          Download
        </button>
      </p>
      {PICTURE.test(mimeType) && <DisplayPart shown={{ type: 'media', mimeType, data }} part={part} />}
      {TEXT.test(mimeType) && <TextLines text={textOf(data)} part={part} label={label} />}
    </section>
  );
}

const bytesOf = (data: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
const textOf = (data: string): string => new TextDecoder().decode(bytesOf(data));

/** As a file of no type: a browser saves it, and opens nothing of it. */
function save(name: string, data: string): void {
  const address = URL.createObjectURL(new Blob([bytesOf(data)], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name.replace(/^user:/, '');
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
