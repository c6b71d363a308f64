import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { Diff } from './diff.tsx';
import { Json } from './json.tsx';
import { Lines, useSeen } from './lines.tsx';
import type { Seen } from './seen.ts';
import { Visible } from './visible.tsx';

/** What a tool shows to people: of its own making, so that nothing in it is believed. */
export interface Display {
  type: string;
  [member: string]: unknown;
}

const PIECE = 400;
/** Pictures are shown from the data that came with them alone, of types in which nothing runs. */
const PICTURE = /^image\/(png|jpeg|gif|webp|avif)$/;

function pieces(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const found: string[] = [];
    for (let at = 0; at === 0 || at < line.length; at += PIECE) found.push(line.slice(at, at + PIECE));
    return found;
  });
}

export function TextLines({
  text,
  part,
  label,
  seen,
  kind = '',
}: {
  text: string;
  part: string;
  label: string;
  seen?: Seen | undefined;
  kind?: string;
}): JSX.Element {
  const lines = pieces(text);
  return (
    <Lines
      part={part}
      label={label}
      count={lines.length}
      class={`text ${kind}`}
      {...(seen ? { seen } : {})}
      line={(index) => <Visible text={lines[index] ?? ''} />}
    />
  );
}

export function DisplayPart({ shown, part, seen }: { shown: Display; part: string; seen?: Seen }): JSX.Element {
  const given = seen ? { seen } : {};
  const text = typeof shown.text === 'string' ? shown.text : '';
  switch (shown.type) {
    case 'diff': {
      const { path, oldText, newText } = shown;
      const before = typeof oldText === 'string' ? oldText : undefined;
      return <Diff path={String(path)} oldText={before} newText={String(newText)} part={part} {...given} />;
    }
    case 'text':
      return <TextLines text={text} part={part} label="Preview" {...given} />;
    case 'terminal':
      return <TextLines text={text} part={part} label="Terminal" kind="terminal" {...given} />;
    case 'table':
      return <Table shown={shown} part={part} {...given} />;
    case 'media':
      if (PICTURE.test(String(shown.mimeType)) && typeof shown.data === 'string') {
        return <Picture source={`data:${shown.mimeType};base64,${shown.data}`} part={part} {...given} />;
      }
      return <Json value={shown} part={part} label="Preview" {...given} />;
    default:
      return <Json value={shown} part={part} label="Preview" {...given} />;
  }
}

function Picture({ source, part, seen }: { source: string; part: string; seen?: Seen }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  useSeen(box, part, 1, seen);
  return (
    <div ref={box}>
      <img class="picture" alt="Preview" src={source} data-line={0} />
    </div>
  );
}

const cell = (value: unknown) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value));

function Table({ shown, part, seen }: { shown: Display; part: string; seen?: Seen }): JSX.Element {
  const columns = Array.isArray(shown.columns) ? shown.columns.map(String) : [];
  const rows = Array.isArray(shown.rows) ? (shown.rows as unknown[][]) : [];
  const box = useRef<HTMLDivElement>(null);
  const isShort = rows.length <= 100 && rows.every((row) => row.every((value) => cell(value).length <= PIECE));
  useSeen(box, part, rows.length, isShort ? seen : undefined);
  if (!isShort) return <Json value={{ columns, rows }} part={part} label="Preview" {...(seen ? { seen } : {})} />;
  return (
    <div class="table-box" ref={box}>
      <table>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                <Visible text={name} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at} data-line={at}>
              {row.map((value, column) => (
                <td key={column}>
                  <Visible text={cell(value)} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
