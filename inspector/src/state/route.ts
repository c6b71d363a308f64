import { signal } from '@preact/signals';

/** Which screen, and the ids that it is about. */
export interface Route {
  screen: 'inbox' | 'sessions' | 'policy';
  ids: readonly string[];
  /** What a list is narrowed by: its words, and more of it by name. */
  query: URLSearchParams;
}

function read(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  const [screen, ...ids] = path.split('/');
  return {
    screen: screen === 'sessions' || screen === 'policy' ? screen : 'inbox',
    ids: ids.filter(Boolean).map(decoded),
    query: new URLSearchParams(query),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Behind `#`: servers and their logs never get it. It holds ids and what is searched for, never credentials or settings. */
export const route = signal<Route>(read());
addEventListener('hashchange', () => {
  route.value = read();
});

export function linkTo(screen: Route['screen'], ...ids: readonly string[]): string {
  return `#/${[screen, ...ids.map(encodeURIComponent)].join('/')}`;
}

/** A place in a session: one of its events, or of its calls. */
export function linkWithin(
  { agent, userId, sessionId }: { agent: string; userId: string; sessionId: string },
  place: { event: string } | { call: string },
): string {
  return `${linkTo('sessions', agent, userId, sessionId)}?${new URLSearchParams({ ...place })}`;
}

export function go(screen: Route['screen'], ...ids: readonly string[]): void {
  location.hash = linkTo(screen, ...ids);
}

/** Changes what the list of this screen is narrowed by, in the address of the page: nobody goes back letter by letter. */
export function narrow(query: Readonly<Record<string, string>>): void {
  const { screen, ids } = route.value;
  const kept = Object.entries(query).filter(([, value]) => value !== '');
  const words = new URLSearchParams(kept).toString();
  history.replaceState(history.state, '', linkTo(screen, ...ids) + (words === '' ? '' : `?${words}`));
  route.value = read();
}
