import type { RemoteHost } from 'coxswain/client';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isTyping, isTypingKey } from '../state/keys.ts';
import { go, linkTo } from '../state/route.ts';
import type { State, Summary } from '../state/session-list.ts';
import { openedAs, stateOf } from '../state/session-list.ts';
import type { Column, Order } from '../state/sorted.ts';
import { nextOrder, tokensOf } from '../state/sorted.ts';
import { short } from './short.ts';
import { Ago } from './time.tsx';
import { Visible } from './visible.tsx';

export const stateNames: Readonly<Record<State, string>> = { waits: '? waits', runs: '▸ runs', rests: '✓ rests' };

const wordsOfTokens = ({ inputTokens = 0, outputTokens = 0 }: Summary) =>
  `${inputTokens.toLocaleString()} in, ${outputTokens.toLocaleString()} out`;

/** Sessions, a line each. A column's title sorts by it. */
export function SessionTable({
  shown,
  host,
  hasUsers,
  order,
  onOrder,
}: {
  shown: readonly Summary[];
  host: RemoteHost | undefined;
  hasUsers: boolean;
  order: Order | undefined;
  onOrder: (order: string) => void;
}): JSX.Element {
  const [at, setAt] = useState(-1);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isTyping(event) || isTypingKey(event)) return;
      const step = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0;
      if (step === 0) return;
      const next = Math.min(shown.length - 1, Math.max(0, at + step));
      setAt(next);
      document.querySelectorAll<HTMLElement>('tbody a')[next]?.focus();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [shown, at]);
  // Agents that were called have sessions of their own among those of their callers.
  const hasAgents = hasUsers || new Set(shown.map(({ agent }) => agent)).size > 1;
  const title = (column: Column, kind: string, children: ComponentChildren) => (
    <Title column={column} kind={kind} order={order} onOrder={onOrder}>
      {children}
    </Title>
  );
  return (
    <table class="sessions">
      <thead>
        <tr>
          {title('session', '', 'Session')}
          {hasUsers && title('user', '', 'User')}
          {hasAgents && title('agent', 'wide-only', 'Agent')}
          {title('state', '', 'State')}
          {title('events', 'amount wide-only', 'Events')}
          {title('steps', 'amount wide-only', 'Steps')}
          {title('tokens', 'amount wide-only', 'Tokens')}
          {title('usd', 'amount wide-only', 'USD')}
          {title('changed', '', 'Changed')}
        </tr>
      </thead>
      <tbody>
        {shown.map((one) => {
          const state = stateOf(one);
          const agent = openedAs(host, one.agent, host?.agents[0]?.name ?? '');
          return (
            <tr key={`${one.userId}/${one.id}`} onClick={() => go('sessions', agent, one.userId, one.id)}>
              <td>
                <a href={linkTo('sessions', agent, one.userId, one.id)}>
                  <Visible text={short(one.title ?? one.id, 80)} />
                </a>
                {one.title !== undefined && (
                  <code class="soft">
                    {' '}
                    <Visible text={one.id} />
                  </code>
                )}
              </td>
              {hasUsers && (
                <td>
                  <Visible text={one.userId} />
                </td>
              )}
              {hasAgents && (
                <td class="wide-only">
                  <Visible text={one.agent ?? ''} />
                </td>
              )}
              <td>
                <span class={`chip ${state}`}>{stateNames[state]}</span>
              </td>
              <td class="amount wide-only">{one.length.toLocaleString()}</td>
              <td class="amount wide-only">{one.steps?.toLocaleString() ?? ''}</td>
              <td class="amount wide-only" title={wordsOfTokens(one)}>
                {tokensOf(one)?.toLocaleString() ?? ''}
              </td>
              <td class="amount wide-only">{one.usd?.toFixed(4) ?? ''}</td>
              <td>
                <Ago time={one.updatedAt} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Title({
  column,
  kind,
  order,
  onOrder,
  children,
}: {
  column: Column;
  kind: string;
  order: Order | undefined;
  onOrder: (order: string) => void;
  children: ComponentChildren;
}): JSX.Element {
  const by = order?.column === column ? order : undefined;
  return (
    <th scope="col" class={kind} aria-sort={by ? (by.isDown ? 'descending' : 'ascending') : 'none'}>
      <button type="button" class="quiet sort" onClick={() => onOrder(nextOrder(column, order))}>
        {children}
        <span aria-hidden="true">{by ? (by.isDown ? ' ▾' : ' ▴') : ''}</span>
      </button>
    </th>
  );
}
