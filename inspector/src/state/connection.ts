import { signal } from '@preact/signals';
import type { LinkState, RemoteHost } from 'coxswain/client';
import { connect, isCoxswainError } from 'coxswain/client';
import { codeOfAddress, isSignedIn, signIn, signOut } from './sign-in.ts';

/** Whether somebody is signed in here. */
export const stage = signal<'starting' | 'signed-out' | 'signed-in'>('starting');
/** Why nobody is, where that is news. */
export const signedOutBecause = signal<string | undefined>(undefined);
export const link = signal<LinkState>('connecting');
export const remote = signal<RemoteHost | undefined>(undefined);

const RETRY_MS = 1500;
/** The page waits for its server for as long as it is open. */
const FOR_EVER_MS = 2 ** 31 - 1;

/** The endpoint beside the page: `/ui/` and `/v1` have one parent. */
function endpoint(): string {
  const url = new URL('../v1', document.baseURI);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}

/** Finds out who is here, and connects. */
export async function start(): Promise<void> {
  const code = codeOfAddress();
  if (code !== undefined) {
    const why = await signIn({ code });
    if (why !== undefined) signedOutBecause.value = why;
  }
  for (;;) {
    const known = await isSignedIn();
    if (known === false) {
      stage.value = 'signed-out';
      return;
    }
    if (known === true) {
      stage.value = 'signed-in';
      return open();
    }
    link.value = 'waiting';
    await later(RETRY_MS);
  }
}

async function open(): Promise<void> {
  for (;;) {
    try {
      const host = await connect(endpoint(), {
        giveUpMs: FOR_EVER_MS,
        maxBackoffMs: 5000,
        onState: (state) => {
          link.value = state;
          if (state === 'closed') void lost();
        },
      });
      remote.value = host;
      return;
    } catch (error) {
      if (isCoxswainError(error) && error.code === 'E_UNAUTHENTICATED' && (await isSignedIn()) === false) {
        return leave('You were signed out: the server does not know this sign-in any more.');
      }
      link.value = 'waiting';
      await later(RETRY_MS);
    }
  }
}

/** The connection has ended for good: credentials expired, or the server says so. */
async function lost(): Promise<void> {
  if (stage.value !== 'signed-in') return;
  remote.value = undefined;
  if ((await isSignedIn()) === false) return leave('Your sign-in has expired.');
  link.value = 'waiting';
  await later(RETRY_MS);
  await open();
}

export async function enter(credentials: { token: string } | { code: string }): Promise<string | undefined> {
  const why = await signIn(credentials);
  if (why !== undefined) return why;
  signedOutBecause.value = undefined;
  stage.value = 'signed-in';
  void open();
  return undefined;
}

export async function exit(): Promise<void> {
  await signOut();
  leave(undefined);
}

function leave(why: string | undefined): void {
  const host = remote.value;
  stage.value = 'signed-out';
  signedOutBecause.value = why;
  remote.value = undefined;
  void host?.close();
}

const later = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
