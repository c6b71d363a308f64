import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { Lines } from '../parts/lines.tsx';
import { Visible } from '../parts/visible.tsx';
import { exactly, now } from '../state/clock.ts';
import type { WatchedSession } from '../state/sessions.ts';
import type { Span, Turn } from '../state/timeline.ts';
import { scaleOf } from '../state/timeline.ts';

const words: Readonly<Record<Span['kind'], string>> = { model: 'model', tool: 'tool', waits: 'waits' };

/** Spans of a turn that are measured against one another: of more, each would be a point. */
const MAX_SCALED = 200;

/** Where the time of each turn went: model, tools, people. */
export function TimelineView({ watched }: { watched: WatchedSession }): JSX.Element {
  watched.turn.value;
  const { turns } = watched.timeline;
  const waiting = watched.timeline.waiting();
  const rows = turns.flatMap((turn, index) => {
    const isLast = index === turns.length - 1;
    const spans = isLast && waiting.length > 0 ? [...turn.spans, ...waiting] : turn.spans;
    const shown = { ...turn, spans };
    return [{ turn: shown, span: undefined }, ...spans.map((span) => ({ turn: shown, span }))];
  });
  if (rows.length === 0) return <p class="empty">No turn has begun yet.</p>;
  return (
    <Lines
      part="timeline"
      label="Time of each turn"
      count={rows.length}
      class="timeline"
      linePx={28}
      line={(index) => {
        const row = rows[index];
        if (!row) return null;
        return row.span ? <SpanRow turn={row.turn} span={row.span} /> : <TurnRow turn={row.turn} />;
      }}
    />
  );
}

function TurnRow({ turn }: { turn: Turn }): JSX.Element {
  const sum = { model: 0, tool: 0, waits: 0 };
  let input = 0;
  let output = 0;
  for (const { kind, from, to = turn.to, tokens } of turn.spans) {
    sum[kind] += to - from;
    input += tokens?.input ?? 0;
    output += tokens?.output ?? 0;
  }
  return (
    <div class="turn-row">
      <b>Turn {turn.number}</b>{' '}
      <span class="soft" title={exactly(turn.from)}>
        {turn.end ?? 'not over'} · model {took(sum.model)} · tools {took(sum.tool)}
        {sum.waits > 0 && ` · waited ${took(sum.waits)}`}
        {input + output > 0 && ` · ${input.toLocaleString()} tokens in, ${output.toLocaleString()} out`}
      </span>
    </div>
  );
}

function SpanRow({ turn, span }: { turn: Turn; span: Span }): JSX.Element {
  const { kind, name, from, to, tokens, isError } = span;
  // Of a turn that goes on, what is open lasts until now.
  const end = to ?? now.value;
  const place = useMemo(
    () => (turn.spans.length > MAX_SCALED ? undefined : scaleOf(turn)),
    [turn.spans.length, turn.from, turn.to],
  );
  const left = place ? place(from) : 0;
  const right = place ? place(to ?? turn.to) : 0;
  return (
    <div
      class={`span-row ${kind} ${isError ? 'failed' : ''}`}
      title={`${exactly(from)} to ${to === undefined ? 'now' : exactly(to)}`}
    >
      <span class="what">
        <span class="soft">{words[kind]}</span> <Visible text={name} />
        {isError && <span class="soft"> failed</span>}
      </span>
      <span class="track" aria-hidden="true">
        {place && (
          <span
            class="bar-of"
            style={{ insetInlineStart: `${left * 100}%`, width: `${Math.max(0.5, (right - left) * 100)}%` }}
          />
        )}
      </span>
      <span class="took">
        {took(end - from)}
        {to === undefined && '…'}
      </span>
      <span class="soft tokens">
        {tokens && `${tokens.input.toLocaleString()} in · ${tokens.output.toLocaleString()} out`}
      </span>
    </div>
  );
}

/** `40 ms`, `1.2 s`, `9 min 5 s`. */
function took(duration: number): string {
  // The clock of the server may be ahead of this one.
  const ms = Math.max(0, duration);
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds - minutes * 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
