import { signal } from '@preact/signals';
import { titleOf } from '../parts/question-words.ts';
import { idsOf, isListed, openCards } from './inbox.ts';
import { go } from './route.ts';

const NAME = 'coxswain-notify';

function stored(): boolean {
  try {
    return localStorage.getItem(NAME) === 'yes';
  } catch {
    return false;
  }
}

const canNotify = 'Notification' in globalThis;
/** `denied`: the browser was asked, and its user said no. */
export const notifying = signal<'on' | 'off' | 'denied' | 'none'>(
  !canNotify
    ? 'none'
    : Notification.permission === 'denied'
      ? 'denied'
      : stored() && Notification.permission === 'granted'
        ? 'on'
        : 'off',
);

/** Asks the browser for leave the first time. */
export async function changeNotifying(): Promise<void> {
  if (!canNotify) return;
  const isOn = notifying.value !== 'on';
  const permission = isOn ? await Notification.requestPermission() : Notification.permission;
  notifying.value = permission === 'denied' ? 'denied' : isOn && permission === 'granted' ? 'on' : 'off';
  try {
    localStorage.setItem(NAME, notifying.value === 'on' ? 'yes' : 'no');
  } catch {
    // A browser that keeps nothing: until the page is closed.
  }
}

/** Questions that were there before are no news. */
export function notifyOfNew(): () => void {
  const known = new Set<string>();
  let isFirst = true;
  return openCards.subscribe((open) => {
    if (!isListed.value) return;
    const news = open.filter(({ key }) => !known.has(key));
    for (const { key } of news) known.add(key);
    if (isFirst) {
      isFirst = false;
      return;
    }
    if (notifying.value !== 'on' || document.hasFocus()) return;
    for (const card of news) {
      // What it is about stays on the page: others may see a desktop.
      const shown = new Notification(`${titleOf(card)} waits for your answer`, {
        body: `asked for ${card.userId}`,
        tag: card.key,
      });
      shown.onclick = () => {
        window.focus();
        go('inbox', ...idsOf(card));
        shown.close();
      };
    }
  });
}
