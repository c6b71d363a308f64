import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { bundleFile, generateBundle } from '../../scripts/generate-protocol.ts';
import { bot, hostOf } from '../host/kit.ts';
import { serving } from './kit.ts';
import { Raw } from './raw.ts';

const corpus = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../../spec/corpus', name), 'utf8')) as {
    name: string;
    message: { id?: string | number; method: string };
    error?: number;
    close?: number;
  }[];

describe('the corpus of messages', () => {
  const bundle = generateBundle();
  // ajv stands for peers that know the protocol by its schema only.
  const fits = new Ajv2020({ strict: false, validateFormats: false }).compile(JSON.parse(bundle));

  test('the bundle is what the contracts say now (else: npm run spec)', () => {
    expect(readFileSync(bundleFile, 'utf8')).toBe(bundle);
  });

  test.each(corpus('accept/requests.json'))('WS-15 takes $name', async ({ message }) => {
    expect(fits(message)).toBe(true);
    const raw = await opened();
    if (message.id === undefined) {
      raw.ws.send(JSON.stringify(message));
      expect(await raw.ask('ping')).toEqual({});
      return;
    }
    raw.ws.send(JSON.stringify(message));
    const { error } = await raw.until(({ id }) => id === message.id);
    // What the session says of it is its own business; the shape is not refused.
    expect(error?.data?.code).not.toBe('E_PROTOCOL');
  });

  test.each(corpus('reject/requests.json'))('WS-15 refuses $name', async ({ message, error: code }) => {
    expect(fits(message)).toBe(false);
    const raw = await opened();
    raw.ws.send(JSON.stringify(message));
    expect((await raw.until(({ id }) => id === message.id)).error).toMatchObject({
      code,
      data: { code: 'E_PROTOCOL' },
    });
    expect(await raw.ask('ping')).toEqual({});
  });

  test.each(corpus('reject/frames.json'))('WS-12 is closed at $name', async ({ message, close }) => {
    const raw = await opened();
    raw.ws.send(JSON.stringify(message));
    expect((await raw.closed).code).toBe(close);
  });
});

/** Initialised, with ids that the corpus does not use. */
async function opened(): Promise<Raw> {
  const { host } = hostOf(bot(['hello']));
  const raw = await Raw.open((await serving(host)).url, { token: 'anna' });
  raw.startAt(1000);
  await raw.ask('initialize', { protocolVersion: '1' });
  return raw;
}
