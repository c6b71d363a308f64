import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Visible } from '../parts/visible.tsx';
import type { AgentNode } from '../state/agents.ts';
import { inOrder } from '../state/agents.ts';
import { remote } from '../state/connection.ts';
import { linkTo } from '../state/route.ts';
import { openedAs } from '../state/session-list.ts';
import type { WatchedSession } from '../state/sessions.ts';

/** The agents of a session, who called or started whom, and who is where. */
export function AgentsView({
  watched,
  onEvents,
}: {
  watched: WatchedSession;
  /** Shows the events that name an agent or a call. */
  onEvents: (words: string) => void;
}): JSX.Element {
  watched.turn.value;
  watched.moment.value;
  const { agents } = watched.shown;
  const rows = inOrder(agents.nodes);
  return (
    <>
      {rows.length === 0 && <p class="empty">No agent has said or done anything yet.</p>}
      <ul class="plain agents" aria-label="Agents">
        {rows.map(({ node, depth }) => {
          const isHere = agents.isOn && agents.speaker === node.name;
          return (
            <li key={node.name} style={{ paddingInlineStart: `${Math.min(depth, 12) * 1.5}em` }}>
              <span aria-hidden="true">{isHere ? '▸' : depth > 0 ? '└' : '·'}</span>{' '}
              <b>
                <Visible text={node.name} />
              </b>{' '}
              <span class={`chip ${isHere ? 'good' : ''}`}>{whereIs(node, isHere)}</span>{' '}
              <span class="soft">
                {count(node.messages, 'message')} · {count(node.calls, 'call')}
                {depth > 0 && <span class="said">, below {node.parent}</span>}
              </span>
              {node.open.size > 0 && (
                <ul class="plain">
                  {[...node.open].map(([id, call]) => (
                    <li key={id}>
                      <button type="button" class="quiet" onClick={() => onEvents(id)}>
                        <Visible text={call.name} />
                      </button>{' '}
                      <span class={`chip ${call.isStarted ? '' : 'waits'}`}>{call.isStarted ? 'runs' : 'waits'}</span>
                    </li>
                  ))}
                </ul>
              )}
            </li>
          );
        })}
      </ul>
      <Below watched={watched} />
    </>
  );
}

function whereIs(node: AgentNode, isHere: boolean): string {
  if (isHere) return node.open.size > 0 ? 'has the word, and waits for calls' : 'has the word';
  if (node.open.size > 0) return 'waits for calls';
  return node.isStarted ? 'was started' : 'rests';
}

const count = (number: number, what: string) => `${number.toLocaleString()} ${what}${number === 1 ? '' : 's'}`;

/** Agents that were called as tools have sessions of their own. */
function Below({ watched }: { watched: WatchedSession }): JSX.Element | null {
  const [found, setFound] = useState<{ id: string; agent?: string }[]>();
  const [fault, setFault] = useState<string>();
  const calls = watched.now.view.toolCalls.size;
  const isRead = watched.state.value !== 'reading';
  useEffect(() => {
    if (!isRead) return;
    let isLeft = false;
    watched.below().then(
      (sessions) => {
        if (!isLeft) setFound(sessions);
      },
      (error: unknown) => {
        if (!isLeft) setFault(error instanceof Error ? error.message : String(error));
      },
    );
    return () => {
      isLeft = true;
    };
  }, [watched, calls, isRead]);
  if (fault !== undefined) {
    return (
      <p class="notice bad" role="alert">
        Sessions of agents that it has called could not be listed: <Visible text={fault} />
      </p>
    );
  }
  if (!found || found.length === 0) return null;
  return (
    <>
      <h2>Sessions of agents that it has called</h2>
      <ul class="plain" aria-label="Sessions of agents that it has called">
        {found.map(({ id, agent }) => (
          <li key={id}>
            <a href={linkTo('sessions', openedAs(remote.value, agent, watched.place.agent), watched.place.userId, id)}>
              <Visible text={id} />
            </a>{' '}
            {agent !== undefined && (
              <span class="soft">
                <Visible text={agent} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
