import { signal } from '@preact/signals';
import type { Principal } from 'coxswain/client';

/** Where a trace is looked at, as the server has it: an address with `{traceId}`. */
export const traceUrl = signal<string | undefined>(undefined);

interface Said {
  principal?: Principal;
  error?: string;
  traceUrl?: string;
}

/** Below the page's own path, whatever that is: `/ui/`. */
const at = (name: string) => new URL(name, document.baseURI).href;

async function post(name: string, body: object): Promise<{ status: number; said: Said }> {
  const response = await fetch(at(name), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    credentials: 'same-origin',
  });
  const said = (await response.json().catch(() => ({}))) as Said;
  if (said.principal) traceUrl.value = said.traceUrl;
  return { status: response.status, said };
}

/** Whether the server knows this browser; undefined: it could not be asked. */
export async function isSignedIn(): Promise<boolean | undefined> {
  try {
    const { status, said } = await post('session', {});
    return status === 200 ? said.principal !== undefined : undefined;
  } catch {
    return undefined;
  }
}

/** What went wrong, in words; undefined: it went well. */
export async function signIn(credentials: { token: string } | { code: string }): Promise<string | undefined> {
  try {
    const { status, said } = await post('sign-in', credentials);
    return status === 200 ? undefined : `The server refuses: ${said.error ?? `status ${status}`}.`;
  } catch {
    return 'The server cannot be reached. Is it running?';
  }
}

export async function signOut(): Promise<void> {
  await post('sign-out', {}).catch(() => {});
}

/** A one-time code that the terminal has put behind the address; it is taken out at once, so that no history keeps it. */
export function codeOfAddress(): string | undefined {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  if (code !== undefined) history.replaceState(null, '', location.pathname);
  return code;
}
