import { computed, signal } from '@preact/signals';
import type { OpenRequest } from 'coxswain/client';
import type { Card } from './inbox.ts';
import { cards, openCards } from './inbox.ts';

/** What the server said last of a question, unless it had to leave parts out. */
export const requestOf = (card: Card): OpenRequest =>
  card.cut ? card.request : (card.outcome?.request ?? card.request);

const digestOf = (card: Card) => requestOf(card).approval?.previewDigest;

/** Questions all lines of which have been on the screen, with the digest of what was shown. */
const readWhole = signal<ReadonlyMap<string, string>>(new Map());

export function noteReadWhole(key: string, digest: string): void {
  if (readWhole.value.get(key) !== digest) readWhole.value = new Map(readWhole.value).set(key, digest);
}

/** It may be answered together with others: it was shown whole, as it is now. */
export function mayBeChosen(card: Card): boolean {
  const digest = digestOf(card);
  const isPlain = card.state === 'open' && card.whyNot === undefined && !card.denied && !card.cut;
  return (
    isPlain &&
    digest !== undefined &&
    requestOf(card).kind !== 'rerun_unknown' &&
    readWhole.value.get(card.key) === digest
  );
}

const marked = signal<ReadonlySet<string>>(new Set());

/** Those that are to be answered together. One that has changed since it was shown is not among them any more. */
export const chosen = computed(() => openCards.value.filter((card) => marked.value.has(card.key) && mayBeChosen(card)));

export function choose(key: string, isChosen: boolean): void {
  const card = cards.value.get(key);
  const next = new Set(marked.value);
  if (isChosen && card && mayBeChosen(card)) next.add(key);
  else next.delete(key);
  marked.value = next;
}

export function chooseNone(): void {
  marked.value = new Set();
}
