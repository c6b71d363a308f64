import { createHmac } from 'node:crypto';
import { lookup } from 'node:dns';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import type { Check, Shape } from '../../base/index.ts';
import { amount, badInput, checkOptions, either, flag, listOf, name, object, required } from '../../base/index.ts';
import type { OutcomeMessage, Outcomes } from '../../contracts/index.ts';
import { isPublicAddress } from './public-address.ts';

/** Where outcomes of turns are sent to. It stands in the program, and nowhere else. */
export interface WebhookOptions {
  /** `https://…`, without user and password. */
  url: string;
  /** `whsec_` and 24 to 64 bytes in base64. Several: each signs, so that one can take the place of another. */
  secret: string | readonly string[];
  /** The words of the agent's last message are sent as well, 64 KiB at most. Default false: who it was and how it ended. */
  answer?: boolean;
  /** That a turn waits for a person is sent as well: `turn.waits`, with the ids of what it has asked. Default false. */
  waits?: boolean;
  /** Milliseconds that the receiver has, 600,000 at most. Default 10,000. */
  timeoutMs?: number;
  /** It may be on this machine or in a private network, and be plain `http://`. Default false. */
  private?: boolean;
}

const shape: Shape<WebhookOptions> = {
  url: required(name),
  secret: required(either(name, listOf(name) as Check)),
  answer: flag,
  waits: flag,
  timeoutMs: amount,
  private: flag,
};

interface Receiver {
  readonly url: URL;
  readonly keys: readonly Buffer[];
  readonly answer: boolean;
  readonly waits: boolean;
  readonly timeoutMs: number;
  readonly isPrivate: boolean;
}

/** Milliseconds that a receiver may have: what waits for it waits in memory. */
const MAX_TIMEOUT_MS = 600_000;

const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

/**
 * Receivers of outcomes by name, for `createHost({ outcomes })`: `submit(…, { webhook: name })`. Signed as
 * https://www.standardwebhooks.com says. No redirect is followed, and only public addresses are connected to.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 */
export function webhooks(receivers: Readonly<Record<string, WebhookOptions>>): Outcomes {
  const where = 'webhooks: receivers';
  if (!object.fits(receivers)) throw badInput(`${where}: an object of receivers by name`);
  const known = new Map(Object.entries(receivers).map(([key, one]) => [key, receiverOf(one, `${where}.${key}`)]));
  const of = (receiver: string) => {
    const found = known.get(receiver);
    if (!found) throw badInput(`there is no webhook of the name ${JSON.stringify(receiver)}`);
    return found;
  };
  return {
    names: [...known.keys()],
    takesAnswer: (receiver) => of(receiver).answer,
    takesWaits: (receiver) => of(receiver).waits,
    deliver: async (receiver, message) => deliver(of(receiver), message),
  };
}

function receiverOf(given: WebhookOptions, where: string): Receiver {
  checkOptions<WebhookOptions>(given, where, shape);
  const { answer = false, waits = false, timeoutMs = 10_000, private: isPrivate = false } = given;
  const url = URL.canParse(given.url) ? new URL(given.url) : undefined;
  const isWeb = url?.protocol === 'https:' || (isPrivate && url?.protocol === 'http:');
  if (!url || !isWeb || url.username !== '' || url.password !== '') {
    throw badInput(`${where}.url: https:// without user and password, or with private: true also http://`);
  }
  if (!isPrivate && isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0 && !isPublicAddress(url.hostname)) {
    throw badInput(`${where}.url: this address is not public: private: true lets it be`);
  }
  if (timeoutMs === 0 || timeoutMs > MAX_TIMEOUT_MS) {
    throw badInput(`${where}.timeoutMs: above 0, and at most ${MAX_TIMEOUT_MS}`);
  }
  const keys = [given.secret].flat().map((secret) => Buffer.from(SECRET.exec(secret)?.[1] ?? '', 'base64'));
  if (keys.length === 0 || keys.some(({ length }) => length < 24 || length > 64)) {
    throw badInput(`${where}.secret: whsec_ and 24 to 64 bytes in base64`);
  }
  return { url, keys, answer, waits, timeoutMs, isPrivate };
}

/** One request. It rejects without the receiver's words: they may have what nobody should read. */
function deliver(
  { url, keys, timeoutMs, isPrivate }: Receiver,
  { id, at, body }: OutcomeMessage,
): Promise<'done' | 'gone'> {
  const time = String(Math.floor(at / 1000));
  const signed = keys.map((key) => `v1,${createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')}`);
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method: 'POST',
      agent: false,
      lookup: isPrivate ? undefined : publicLookup,
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'coxswain',
        'webhook-id': id,
        'webhook-timestamp': time,
        'webhook-signature': signed.join(' '),
      },
    });
    request.on('error', (error) => {
      reject(error.name === 'TimeoutError' || error.name === 'AbortError' ? late(timeoutMs) : error);
    });
    request.on('response', (response) => {
      const { statusCode = 0 } = response;
      response.on('error', () => {});
      response.destroy();
      if (statusCode >= 200 && statusCode < 300) resolve('done');
      else if (statusCode === 410) resolve('gone');
      else reject(new Error(`the receiver has answered ${statusCode}`));
    });
    request.end(body);
  });
}

const late = (ms: number) => new Error(`the receiver has not answered within ${ms} ms`);

/** What is connected to is what was looked at: a name that is another address a moment later is none. */
const publicLookup: LookupFunction = (host, options, tell) => {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error) return tell(error, '');
    const bad = addresses.find(({ address }) => !isPublicAddress(address));
    const [first] = addresses;
    if (bad || !first) return tell(new Error(`${host} has an address that is not public`), '');
    if (options.all) return tell(null, addresses);
    tell(null, first.address, first.family);
  });
};
