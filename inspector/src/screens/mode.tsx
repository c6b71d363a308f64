import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Visible } from '../parts/visible.tsx';
import { link } from '../state/connection.ts';
import type { WatchedSession } from '../state/sessions.ts';

const names: Readonly<Record<string, string>> = {
  default: 'Ask: reads unasked',
  auto_edit: 'Edit: reads and edits unasked',
  autonomous: 'Autonomous: asks before what cannot be brought back',
  plan: 'Plan: reads alone',
  dont_ask: 'Never ask: denies what would be asked about',
};

/** What the session may do at most. Its owner changes it; the server says how far. */
export function Mode({ watched }: { watched: WatchedSession }): JSX.Element | null {
  watched.turn.value;
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string>();
  const { mode } = watched.shown;
  if (watched.isPart) return null;
  if (!watched.isOwn || watched.moment.value !== undefined) {
    return mode === undefined ? null : (
      <span class="chip">
        mode <Visible text={mode} />
      </span>
    );
  }
  const change = async (to: string) => {
    setBusy(true);
    setFault(undefined);
    try {
      await watched.setMode(to === '' ? null : to);
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <label class="mode">
        <span class="said">Mode</span>
        <select
          // Made anew where it was refused: it shows what holds.
          key={`${mode} ${fault}`}
          value={mode ?? ''}
          disabled={isBusy || link.value !== 'ready'}
          onChange={(event) => void change(event.currentTarget.value)}
        >
          <option value="">Mode: as policy says</option>
          {mode !== undefined && names[mode] === undefined && <option value={mode}>{mode}</option>}
          {Object.entries(names).map(([name, words]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {fault !== undefined && (
        <p class="notice bad" role="alert">
          <Visible text={fault} />
        </p>
      )}
    </>
  );
}
