import { computed, signal } from '@preact/signals';
import type { OpenRequest, RemoteApprovals, RemoteHost, RequestAnswer } from 'coxswain/client';
import { isCoxswainError } from 'coxswain/client';
import { link, remote } from './connection.ts';

export type Approval = Awaited<ReturnType<RemoteApprovals['list']>>[number];
export type Outcome = Awaited<ReturnType<RemoteApprovals['outcome']>>;

/** A question on the screen. It stays once it is decided, until it is left. */
export interface Card {
  key: string;
  agent: string;
  userId: string;
  request: OpenRequest;
  denied?: Approval['denied'];
  /** Parts of it were too large to be sent: nobody can approve here what they have not seen. */
  cut?: boolean;
  /** Why this person may not answer it. */
  whyNot?: string;
  state: 'open' | 'sending' | 'closed';
  /** What came of it so far, as the server says. */
  outcome?: Outcome;
  /** What was said to this person's answer. */
  said?: { tone: 'good' | 'bad'; text: string } | undefined;
  /** The server was asked what it knows besides: an edit needs the tool's schema. */
  isLooked?: boolean;
  /** The answer was this person's. */
  isMine?: boolean;
}

export const cards = signal<ReadonlyMap<string, Card>>(new Map());
/** The first list has been read. */
export const isListed = signal(false);
export const listFault = signal<string | undefined>(undefined);

/** Soonest to expire first, then those that have waited longest. */
export const openCards = computed(() =>
  [...cards.value.values()].filter(({ state, whyNot }) => state !== 'closed' && whyNot === undefined).sort(bySoonest),
);
/** In this person's own sessions, for others to answer. */
export const othersCards = computed(() =>
  [...cards.value.values()].filter(({ state, whyNot }) => state !== 'closed' && whyNot !== undefined).sort(bySoonest),
);
export const closedCards = computed(() => [...cards.value.values()].filter(({ state }) => state === 'closed'));

function bySoonest(a: Card, b: Card): number {
  const left = a.request.expiresAt ?? '9';
  const right = b.request.expiresAt ?? '9';
  if (left !== right) return left < right ? -1 : 1;
  return a.request.requestedAt < b.request.requestedAt ? -1 : 1;
}

export const placeOf = ({ agent, userId, request }: Pick<Card, 'agent' | 'userId' | 'request'>) => ({
  agent,
  userId,
  sessionId: request.sessionId,
});
/** As its address names it. */
export const idsOf = ({ agent, userId, request }: Pick<Card, 'agent' | 'userId' | 'request'>): string[] => [
  agent,
  userId,
  request.sessionId,
  request.requestId,
];
export const keyOf = (ids: readonly string[]): string => JSON.stringify(ids);

function change(key: string, to: Partial<Card>): void {
  const card = cards.value.get(key);
  if (card) cards.value = new Map(cards.value).set(key, { ...card, ...to });
}

function see(open: Approval): void {
  const key = keyOf(idsOf(open));
  const known = cards.value.get(key);
  if (known?.state === 'sending') return;
  const { agent, userId, request, denied, cut = false, whyNot } = open;
  const card: Card = { ...known, key, agent, userId, request, cut, state: 'open', ...(denied ? { denied } : {}) };
  if (whyNot === undefined) delete card.whyNot;
  else card.whyNot = whyNot;
  cards.value = new Map(cards.value).set(key, card);
}

/** Leaves what is over, except the card that is looked at. */
export function forget(except?: string): void {
  const left = [...cards.value].filter(([key, { state }]) => state !== 'closed' || key === except);
  if (left.length < cards.value.size) cards.value = new Map(left);
}

const LOOK_MS = 15_000;
const RESULT_MS: readonly number[] = [300, 700, 1500, 3000, 5000];

/** Follows the inbox of a server until its connection ends. */
export async function follow(host: RemoteHost): Promise<void> {
  // What was on the screen of whoever was signed in before is not for this person.
  cards.value = new Map();
  isListed.value = false;
  const changes = host.approvals.changes();
  void (async () => {
    for await (const { agent, userId, sessionId, requestId } of changes)
      void look(keyOf([agent, userId, sessionId, requestId]));
  })().catch(() => {});
  const timer = setInterval(() => {
    if (document.visibilityState === 'visible' && link.value === 'ready') void compare(host);
  }, LOOK_MS);
  const again = () => {
    if (document.visibilityState === 'visible') void compare(host);
  };
  document.addEventListener('visibilitychange', again);
  const stop = link.subscribe((state) => {
    if (state === 'ready' && isListed.value) void compare(host);
  });
  try {
    void compare(host);
    for await (const open of host.approvals.watch()) see(open);
  } finally {
    clearInterval(timer);
    stop();
    document.removeEventListener('visibilitychange', again);
    void changes.return?.();
  }
}

/** What is open at the server now: questions that are not in it any more are looked at one by one. */
async function compare(host: RemoteHost): Promise<void> {
  try {
    const [theirs, own] = await Promise.all([host.approvals.list(), host.approvals.list({ own: true })]);
    const listed = [...own, ...theirs];
    for (const open of listed) see(open);
    isListed.value = true;
    listFault.value = undefined;
    const keys = new Set(listed.map((open) => keyOf(idsOf(open))));
    for (const { key, state } of cards.value.values()) if (state === 'open' && !keys.has(key)) void look(key);
  } catch (error) {
    if (remote.value === host) listFault.value = error instanceof Error ? error.message : String(error);
  }
}

/** A question that somebody has sent the address of: it is in no list of this person's. */
export async function find(ids: readonly string[]): Promise<boolean> {
  const [agent = '', userId = '', sessionId = '', requestId = ''] = ids;
  const host = remote.value;
  if (!host || requestId === '') return false;
  try {
    const outcome = await host.approvals.outcome(requestId, { agent, userId, sessionId });
    const key = keyOf(ids);
    if (cards.value.has(key)) return true;
    const { request, whyNot, call } = outcome;
    if (!request && !call) return false;
    const asked = request ?? closedRequest(requestId, sessionId, call);
    const base: Card = { key, agent, userId, request: asked, state: outcome.isOpen ? 'open' : 'closed', outcome };
    cards.value = new Map(cards.value).set(key, whyNot === undefined ? base : { ...base, whyNot });
    return true;
  } catch {
    return false;
  }
}

/** What is left of a question whose call is over. */
function closedRequest(requestId: string, sessionId: string, call: Outcome['call']): OpenRequest {
  const { tool: name = '', args = {}, callId = requestId, agentId = '', requestedAt = '' } = call ?? {};
  const about = { callId, name, args, message: '', agentPath: [agentId], requestedAt };
  return {
    kind: 'rerun_unknown',
    elicitation: 'rerun_unknown',
    requestId,
    sessionId,
    turnId: '',
    path: '',
    started: false,
    ...about,
  };
}

/** Asks the server what came of a question. */
export async function look(key: string): Promise<Outcome | undefined> {
  const card = cards.value.get(key);
  const host = remote.value;
  if (!card || !host) return undefined;
  try {
    const outcome = await host.approvals.outcome(card.request.requestId, placeOf(card));
    const state = outcome.isOpen ? (cards.value.get(key)?.state ?? 'open') : 'closed';
    change(key, { outcome, isLooked: true, state: state === 'closed' && outcome.isOpen ? 'open' : state });
    return outcome;
  } catch (error) {
    const isGone = isCoxswainError(error) && error.code === 'E_UNKNOWN_REQUEST';
    change(key, isGone ? { state: 'closed' } : { isLooked: true });
    return undefined;
  }
}

/** Looks until the call is over, ever more seldom; the returned function ends it. */
export function lookUntilOver(key: string): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let count = 0;
  let isOver = false;
  const next = async () => {
    const outcome = await look(key);
    if (isOver || (outcome?.call && outcome.call.outcome !== 'open')) return;
    const wait = RESULT_MS[Math.min(count++, RESULT_MS.length - 1)];
    timer = setTimeout(() => void next(), wait);
  };
  void next();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** Gives an answer; what the server says to it is on the card. Whether it was taken. */
export async function decide(card: Card, answer: RequestAnswer): Promise<boolean> {
  const host = remote.value;
  if (!host) return false;
  const { key, request } = card;
  change(key, { state: 'sending', said: undefined });
  try {
    const settlement = await host.approvals.decide(request.requestId, answer, placeOf(card));
    if (settlement.status === 'settled') change(key, { state: 'closed', isMine: true });
    else if (settlement.status === 'waiting_quorum')
      change(key, {
        state: 'open',
        said: { tone: 'good', text: 'Your approval counts. More people must approve before it runs.' },
      });
    else change(key, { state: 'closed', isMine: false });
    await look(key);
    return settlement.status !== 'already_settled';
  } catch (error) {
    change(key, { state: 'open', said: { tone: 'bad', text: wordsOf(error) } });
    await look(key);
    if (isCoxswainError(error) && error.code === 'E_PREVIEW_CHANGED') void compare(host);
    return false;
  }
}

function wordsOf(error: unknown): string {
  if (!isCoxswainError(error)) return String(error);
  switch (error.code) {
    case 'E_PREVIEW_CHANGED':
      return 'What would run has changed since it was shown. Nothing was approved; look at it again.';
    case 'E_CONNECTION_LOST':
      return 'The connection was lost before the server answered. What the server knows is shown here.';
    default:
      return error.message;
  }
}
