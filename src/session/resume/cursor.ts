/** Resume point after the n-th AgentEvent of a stored event: a fan-out group is never cut. */
export function cursorOf(seq: number, n: number): string {
  return `${seq}.${n}`;
}

/** Behind all that the stored event of this seq comes to, whether or not it is there. */
export function cursorBehind(seq: number): string {
  return cursorOf(seq, 999_999);
}

/** `undefined` for a text that is no cursor. */
export function parseCursor(cursor: string): { seq: number; n: number } | undefined {
  const match = /^(\d{1,15})\.(\d{1,6})$/.exec(cursor);
  return match ? { seq: Number(match[1]), n: Number(match[2]) } : undefined;
}
