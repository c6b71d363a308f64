import type { State } from './session-list.ts';

/** What a line of words asks for. */
export interface Wanted {
  state?: State;
  agent?: string;
  user?: string;
  tool?: string;
  /** ISO: changed then or later, or before. */
  since?: string;
  before?: string;
  search?: string;
}

const keys = ['state', 'agent', 'user', 'tool', 'after', 'before'] as const;
export type Key = (typeof keys)[number];
const isKey = (word: string): word is Key => (keys as readonly string[]).includes(word);
/** `key:value`, `key:"a value"`, `"some words"` or a word. */
const token = /(?:(\p{L}+):)?(?:"([^"]*)"|(\S+))/gu;

interface Word {
  key?: Key;
  value: string;
}

function wordsOf(text: string): Word[] {
  return [...text.matchAll(token)].map(([whole, key, quoted, plain]) => {
    if (key !== undefined && isKey(key)) return { key, value: quoted ?? plain ?? '' };
    // Ids may have a colon, too.
    return { value: key === undefined ? (quoted ?? plain ?? '') : whole };
  });
}

/** What is asked for, and what of it cannot be: that is said, and not left out. */
export function wantedBy(text: string, now: Date = new Date()): { wanted: Wanted; faults: string[] } {
  const wanted: Wanted = {};
  const faults: string[] = [];
  const others: string[] = [];
  for (const { key, value } of wordsOf(text)) {
    // A word that is being typed.
    if (key === undefined && isKey(value.slice(0, -1)) && value.endsWith(':')) continue;
    if (key === undefined) others.push(value);
    else if (key === 'state') {
      if (value === 'waits' || value === 'runs' || value === 'rests') wanted.state = value;
      else faults.push(`state:${value} is none of waits, runs, rests`);
    } else if (key === 'after' || key === 'before') {
      const time = timeOf(value, now);
      if (!time)
        faults.push(`${key}:${value} is no time: write today, yesterday, 3d, 12h, 2026-11-30 or 2026-11-30T14:00`);
      else wanted[key === 'after' ? 'since' : 'before'] = time.toISOString();
    } else wanted[key] = value;
  }
  const search = others.join(' ').trim();
  if (search !== '') wanted.search = search;
  return { wanted, faults };
}

/** The value that a word of this key has; '' where none has. */
export const valueIn = (text: string, key: Key): string =>
  wordsOf(text).findLast((word) => word.key === key)?.value ?? '';

/** The line with another value of a key, or without it. */
export function withWord(text: string, key: Key, value: string): string {
  const rest = wordsOf(text).filter((word) => word.key !== key);
  const words = value === '' ? rest : [...rest, { key, value }];
  return words.map(written).join(' ');
}

function written({ key, value }: Word): string {
  const text = /[\s"]/.test(value) ? `"${value.replaceAll('"', '')}"` : value;
  return key === undefined ? text : `${key}:${text}`;
}

/** The beginning of a day here, so many days or hours ago, or a time as it is written. */
function timeOf(value: string, now: Date): Date | undefined {
  const day = new Date(now);
  day.setHours(0, 0, 0, 0);
  if (value === 'today') return day;
  if (value === 'yesterday') return daysBefore(day, 1);
  const ago = /^(\d{1,4})([dh])$/.exec(value);
  if (ago)
    return ago[2] === 'd' ? daysBefore(day, Number(ago[1])) : new Date(now.getTime() - Number(ago[1]) * 3_600_000);
  if (!/^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d)?)?$/.test(value)) return undefined;
  // A day alone is one of UTC otherwise.
  const time = new Date(value.includes('T') ? value : `${value}T00:00`);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

function daysBefore(day: Date, days: number): Date {
  const then = new Date(day);
  then.setDate(then.getDate() - days);
  return then;
}
