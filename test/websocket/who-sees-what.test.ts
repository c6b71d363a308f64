import { describe, expect, test } from 'vitest';
import type { OperatorScope } from '../../src/host/operator/index.ts';
import { bot, hostOf } from '../host/kit.ts';
import { all, client, serving } from './kit.ts';

const given = (value: unknown) => value as OperatorScope | undefined;

class Scope {
  get users() {
    return ['ben'];
  }
}

describe('what `operator` gives', () => {
  test('ATK4-10 a promise, a collection or an instance of a class is no scope: nobody is an operator by it', async () => {
    const { host } = hostOf(bot(['hello']));
    const warnings: string[] = [];
    for (const [value, why] of [
      [Promise.resolve(undefined), 'is a promise'],
      [Promise.resolve({ users: ['ben'] }), 'is a promise'],
      [{ then: () => undefined }, 'is a promise'],
      [new Set(['ben']), 'is a Set; give a plain object'],
      [new Map([['users', ['ben']]]), 'is a Map; give a plain object'],
      [new Date(0), 'is a Date; give a plain object'],
      [new Scope(), 'is an object; give a plain object'],
      [['ben'], 'is a list; give a plain object'],
      [() => ['ben'], 'is a function; give a plain object'],
      [true, 'is true; give a plain object'],
      [null, 'is null; give a plain object'],
    ] as const) {
      const warn = (_: string, error?: unknown) => warnings.push(String(error));
      const server = await serving(host, { operator: () => given(value), warn });
      const eve = await client(server, 'eve');
      expect(eve.operator).toBeUndefined();
      expect(warnings.pop()).toContain(`operator: the scope ${why}`);
      await eve.close();
    }
  });

  test('ATK4-10 a promise that rejects is warned of, and ends nothing', async () => {
    const { host } = hostOf(bot(['hello']));
    const warnings: string[] = [];
    const server = await serving(host, {
      operator: () => given(Promise.reject(new Error('no directory'))),
      warn: (message, error) => warnings.push(`${message}: ${error instanceof Error ? error.message : error}`),
    });
    const eve = await client(server, 'eve');
    expect(eve.operator).toBeUndefined();
    expect(warnings.at(-1)).toBe('operator rejected for eve: no directory');
    expect(await all((await eve.open('bot', { sessionId: 's', create: true })).stream('hi'))).not.toEqual([]);
  });

  test('ATK4-10 a plain object is a scope, also one without a prototype', async () => {
    const { host } = hostOf(bot(['hello']));
    const scope: OperatorScope = Object.assign(Object.create(null), { users: ['ben'] });
    for (const operator of [() => scope, () => ({ users: ['ben'] })]) {
      const sam = await client(await serving(host, { operator }), 'sam');
      expect(await sam.operator?.sessions()).toEqual({ sessions: [] });
    }
  });
});
