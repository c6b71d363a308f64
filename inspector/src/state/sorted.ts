import type { Summary } from './session-list.ts';
import { stateOf } from './session-list.ts';

export type Column = 'session' | 'user' | 'agent' | 'state' | 'events' | 'steps' | 'tokens' | 'usd' | 'changed';

export interface Order {
  column: Column;
  isDown: boolean;
}

export const tokensOf = ({ steps, inputTokens = 0, outputTokens = 0 }: Summary): number | undefined =>
  steps === undefined ? undefined : inputTokens + outputTokens;

/** What a session is sorted by; undefined: it is not known, and stands last in both directions. */
const values: Readonly<Record<Column, (one: Summary) => string | number | undefined>> = {
  session: ({ title, id }) => title ?? id,
  user: ({ userId }) => userId,
  agent: ({ agent }) => agent,
  state: (one) => ['waits', 'runs', 'rests'].indexOf(stateOf(one)),
  events: ({ length }) => length,
  steps: ({ steps }) => steps,
  tokens: tokensOf,
  usd: ({ usd }) => usd,
  changed: ({ updatedAt }) => updatedAt,
};

/** Of these the most, or the newest, is what somebody looks for. */
const downFirst: ReadonlySet<Column> = new Set<Column>(['events', 'steps', 'tokens', 'usd', 'changed']);

/** As the address of the page has it: `tokens`, or `-tokens` for the most first. */
export function orderOf(text: string): Order | undefined {
  const column = text.replace(/^-/, '');
  return Object.hasOwn(values, column) ? { column: column as Column, isDown: text.startsWith('-') } : undefined;
}

/** The other direction, and then none. */
export function nextOrder(column: Column, now: Order | undefined): string {
  const first = downFirst.has(column);
  if (now?.column !== column) return first ? `-${column}` : column;
  return now.isDown === first ? (first ? column : `-${column}`) : '';
}

/** Those that are equal stay as they came: newest first. */
export function sorted(sessions: readonly Summary[], order: Order | undefined): readonly Summary[] {
  if (!order) return sessions;
  const value = values[order.column];
  return sessions.toSorted((a, b) => {
    const [left, right] = [value(a), value(b)];
    if (left === undefined || right === undefined) return Number(left === undefined) - Number(right === undefined);
    const by =
      typeof left === 'number' && typeof right === 'number'
        ? left - right
        : String(left).localeCompare(String(right), undefined, { numeric: true, sensitivity: 'base' });
    return order.isDown ? -by : by;
  });
}
