import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** What the cookie of a page that has signed in stands for. */
export interface SignedIn {
  id: string;
  /** The token that was shown; absent: the server's own. */
  token?: string;
  /** Epoch milliseconds. */
  expiresAt: number;
}

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Characters that browsers keep of a cookie, its name and attributes among them. */
const MAX_VALUE = 3800;
/** Signed-out cookies that are remembered until they expire. */
const MAX_REVOKED = 10_000;

/**
 * Credentials as a cookie that only this server reads: encrypted with its key, so that a server that is restarted with
 * the same key knows its pages again. The token is asked about at each connection: one that is withdrawn opens nothing.
 */
export class CookieSeal {
  readonly #key: Uint8Array;
  readonly #revoked = new Map<string, number>();
  /** Of cookies that something was opened with, by their ids. */
  readonly #ended = new Map<string, { ends: AbortController; expiresAt: number }>();

  constructor(key: Uint8Array = randomBytes(32)) {
    this.#key = key;
  }

  /** Undefined: the token is longer than a cookie may be. */
  seal(token: string | undefined, lifetimeMs: number): { value: string; expiresAt: number } | undefined {
    const signedIn: SignedIn = {
      id: randomBytes(12).toString('base64url'),
      ...(token === undefined ? {} : { token }),
      expiresAt: Date.now() + lifetimeMs,
    };
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key, iv);
    const body = Buffer.concat([cipher.update(JSON.stringify(signedIn), 'utf8'), cipher.final()]);
    const value = Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url');
    return value.length > MAX_VALUE ? undefined : { value, expiresAt: signedIn.expiresAt };
  }

  /** Undefined: none of this server's, expired, or signed out. */
  open(value: string): SignedIn | undefined {
    const bytes = Buffer.from(value, 'base64url');
    if (bytes.length <= IV_BYTES + TAG_BYTES) return undefined;
    let signedIn: SignedIn;
    try {
      const decipher = createDecipheriv(ALGORITHM, this.#key, bytes.subarray(0, IV_BYTES));
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      const body = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
      signedIn = JSON.parse(body.toString('utf8')) as SignedIn;
    } catch {
      return undefined;
    }
    return signedIn.expiresAt <= Date.now() || this.#revoked.has(signedIn.id) ? undefined : signedIn;
  }

  /** Aborted when the page signs out. */
  ended({ id, expiresAt }: SignedIn): AbortSignal {
    const known = this.#ended.get(id);
    if (known) return known.ends.signal;
    const now = Date.now();
    for (const [other, one] of this.#ended) if (one.expiresAt <= now) this.#ended.delete(other);
    const [oldest] = this.#ended;
    if (this.#ended.size >= MAX_REVOKED && oldest) {
      // Its page connects again.
      oldest[1].ends.abort();
      this.#ended.delete(oldest[0]);
    }
    const ends = new AbortController();
    this.#ended.set(id, { ends, expiresAt });
    return ends.signal;
  }

  /** It opens nothing any more, what it has opened ends, as long as this server runs. */
  revoke(value: string): void {
    const signedIn = this.open(value);
    if (!signedIn) return;
    const now = Date.now();
    for (const [id, expiresAt] of this.#revoked) if (expiresAt <= now) this.#revoked.delete(id);
    const [oldest] = this.#revoked.keys();
    if (this.#revoked.size >= MAX_REVOKED && oldest !== undefined) this.#revoked.delete(oldest);
    this.#revoked.set(signedIn.id, signedIn.expiresAt);
    this.#ended.get(signedIn.id)?.ends.abort();
    this.#ended.delete(signedIn.id);
  }
}
