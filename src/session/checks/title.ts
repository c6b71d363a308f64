import type { Check } from '../../base/index.ts';
import { text } from '../../base/index.ts';

/** UTF-16 units of a session's title: lists of a thousand sessions have theirs in one message. */
const MAX_TITLE = 300;

export const sessionTitle: Check = {
  needs: `a text of at most ${MAX_TITLE} characters`,
  fits: (value) => text.fits(value) && (value as string).length <= MAX_TITLE,
};

/** A session as lists show it: one that an older version or another executor has stored may have any title. */
export function listedSession<T extends { title?: string | undefined }>(session: T): T {
  const { title } = session;
  if (title === undefined || title.length <= MAX_TITLE) return session;
  return { ...session, title: `${title.slice(0, MAX_TITLE - 1)}…`.toWellFormed() };
}
