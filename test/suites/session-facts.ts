import { beforeEach, describe, expect, test } from 'vitest';
import type { ContentPart, SessionSummary } from '../../src/contracts/index.ts';
import type { EventInit, SessionKey, SessionService, StoredEvent } from '../../src/runtime/index.ts';
import { createEvent, MAX_TOOLS } from '../../src/runtime/index.ts';

export const listed: SessionKey = { app: 'shop', userId: 'ann', id: 's1' };

/** The answer of a model that calls these tools. */
export function step(id: string, tools: readonly string[], usage: EventInit['usage'] = {}): StoredEvent {
  const calls = tools.map((name, at): ContentPart => ({ type: 'function_call', id: `${id}-${at}`, name, args: {} }));
  const parts: ContentPart[] = [{ type: 'text', text: 'I see.' }, ...calls];
  return createEvent({ id, turnId: 't1', author: 'clerk', content: { role: 'model', parts }, usage });
}

export const turn = (id: string): StoredEvent =>
  createEvent({ id, turnId: id, author: 'user', actions: { turn: { start: 'clerk' } } });

/** What a list says of this session's log. */
export async function factsOf(service: SessionService, id: string): Promise<Partial<SessionSummary> | undefined> {
  const found = (await service.list({ app: 'shop' })).find((one) => one.id === id);
  if (!found) return undefined;
  const { agent, steps, inputTokens, outputTokens, usd, tools } = found;
  return { agent, steps, inputTokens, outputTokens, usd, tools };
}

/** Facts of logs, in lists. */
export function sessionFacts(given: () => SessionService): void {
  describe('what lists say of a log', () => {
    let service: SessionService;
    beforeEach(async () => {
      service = given();
      await service.create(listed);
    });

    test('INS-10 what models claim to have taken is stored, and counts within what a database can add up', async () => {
      const claimed = { inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: Number.MAX_VALUE, cost: { usd: 1e300 } };
      await service.append(listed, [turn('t1'), step('m1', [], claimed), step('m2', [], claimed)]);
      await service.append(listed, [step('m3', [], claimed)]);
      const sums = { steps: 3, inputTokens: 3e13, outputTokens: 3e13, usd: 30_000 };
      expect(await factsOf(service, 's1')).toEqual({ agent: 'clerk', ...sums, tools: [] });
    });

    test('INS-10 agent, steps, tokens, cost and tools of all of it, as it grows', async () => {
      const none = { agent: undefined, steps: 0, inputTokens: 0, outputTokens: 0, usd: undefined, tools: [] };
      expect(await factsOf(service, 's1')).toEqual(none);
      await service.append(listed, [turn('t1')]);
      expect(await factsOf(service, 's1')).toEqual({ ...none, agent: 'clerk' });
      const usage = { inputTokens: 120, outputTokens: 12, cachedReadTokens: 100, cost: { usd: 0.1 } };
      await service.append(listed, [step('e1', ['pay', 'look'], usage), step('e2', ['pay'], usage)]);
      await service.append(listed, [step('e3', ['look', 'post'], { inputTokens: 1, cost: { usd: 0.0000001 } })]);
      // No sum of fractions: every store comes to the same.
      const now = { inputTokens: 241, outputTokens: 24, usd: 0.2000001, tools: ['pay', 'look', 'post'] };
      expect(await factsOf(service, 's1')).toEqual({ agent: 'clerk', steps: 3, ...now });
      // Spent and called it was all the same.
      await service.append(listed, [createEvent({ id: 'b1', author: 'user', actions: { rewound: { through: 1 } } })]);
      expect(await factsOf(service, 's1')).toEqual({ agent: 'clerk', steps: 3, ...now });
      expect(await factsOf(service, 'none')).toBeUndefined();
    });

    test('INS-10 names of tools are taken as they are, and no more of them than a list can carry', async () => {
      const odd = ['a"b', 'b', 'a', 'ä\n"a"\n', '%', "o'x", 'nul\u0000', 'emoji 🚣🏽 ', '\\', '?'];
      await service.append(listed, [step('e1', odd), step('e2', odd)]);
      await service.append(listed, [step('e3', odd.toReversed())]);
      expect((await factsOf(service, 's1'))?.tools).toEqual(odd);
      const many = Array.from({ length: 150 }, (_, at) => `${'made-up-'.repeat(10)}${at}`);
      for (let at = 0; at < many.length; at += 50)
        await service.append(listed, [step(`m${at}`, many.slice(at, at + 50))]);
      await service.append(listed, [step('long', ['x'.repeat(300)])]);
      const { tools = [] } = (await factsOf(service, 's1')) ?? {};
      expect(tools.slice(0, odd.length)).toEqual(odd);
      expect(tools.join('').length).toBeGreaterThan(MAX_TOOLS * 0.8);
      expect(tools.join('').length).toBeLessThan(MAX_TOOLS * 2);
    });

    test('INS-10 a copy has those of the events that it has, and one that is made again under an id none', async () => {
      const usage = { inputTokens: 5, outputTokens: 1 };
      await service.append(listed, [turn('t1'), step('e1', ['pay'], usage), step('e2', ['post'], usage)]);
      await service.fork(listed, { id: 'part', through: 2, settle: () => [] });
      expect(await factsOf(service, 'part')).toMatchObject({
        agent: 'clerk',
        steps: 1,
        inputTokens: 5,
        tools: ['pay'],
      });
      await service.append({ ...listed, id: 'part' }, [step('e9', ['ship'], usage)]);
      expect(await factsOf(service, 'part')).toMatchObject({ steps: 2, inputTokens: 10, tools: ['pay', 'ship'] });
      const whole = await service.get(listed);
      if (service.restore && whole) {
        await service.restore({ ...listed, id: 'restored' }, { initialState: {}, events: whole.events });
        expect(await factsOf(service, 'restored')).toEqual(await factsOf(service, 's1'));
      }
      await service.delete(listed);
      await service.create(listed);
      expect(await factsOf(service, 's1')).toMatchObject({ steps: 0, tools: [] });
    });
  });
}
