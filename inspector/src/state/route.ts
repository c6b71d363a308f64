import { signal } from '@preact/signals';

/** Which screen, and the ids that it is about. */
export interface Route {
  screen: 'inbox' | 'sessions' | 'policy';
  ids: readonly string[];
}

function read(): Route {
  const [screen, ...ids] = location.hash.replace(/^#\/?/, '').split('/');
  return {
    screen: screen === 'sessions' || screen === 'policy' ? screen : 'inbox',
    ids: ids.filter(Boolean).map(decoded),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Behind `#`: servers and their logs never get it. It holds ids, never credentials or settings. */
export const route = signal<Route>(read());
addEventListener('hashchange', () => {
  route.value = read();
});

export function linkTo(screen: Route['screen'], ...ids: readonly string[]): string {
  return `#/${[screen, ...ids.map(encodeURIComponent)].join('/')}`;
}

export function go(screen: Route['screen'], ...ids: readonly string[]): void {
  location.hash = linkTo(screen, ...ids);
}
