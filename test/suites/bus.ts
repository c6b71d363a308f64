import { afterEach, describe, expect, test } from 'vitest';
import type { Bus } from '../../src/contracts/index.ts';

/** Long: a busy machine is no fault of a bus. */
export const patience = { timeout: 20_000 };

export interface MadeBus {
  bus: Bus;
  /** Another program's. */
  other: Bus;
}

/** What every bus keeps, as long as nothing is lost. */
export function busSuite(name: string, make: () => Promise<MadeBus>): void {
  describe(`bus: ${name}`, () => {
    const open: Bus[] = [];
    const fresh = async () => {
      const made = await make();
      open.push(made.bus, made.other);
      return made;
    };
    afterEach(async () => {
      for (const bus of open.splice(0)) await bus.close();
    });
    const nothing = () => {};
    /** Messages of a topic, as they come; a subscription may take a moment: what is said is said again. */
    const hears = async (to: Bus, from: Bus, topic: string) => {
      const heard: string[] = [];
      const leave = to.subscribe(topic, (message) => heard.push(message), nothing);
      await expect
        .poll(() => {
          from.publish(topic, 'hello');
          return heard.includes('hello');
        }, patience)
        .toBe(true);
      return { heard, leave };
    };

    test('BU-01 a message reaches who listens to its topic in another program, whatever is in both', async () => {
      const { bus, other } = await fresh();
      const topic = 'session/shop/ann é*>. /s1';
      const { heard } = await hears(other, bus, topic);
      const message = '{"é":"\\u0000 𝒳 ☃ \'"}';
      bus.publish('session/shop/ann/s2', 'of another topic');
      bus.publish(topic, message);
      await expect.poll(() => heard.includes(message), patience).toBe(true);
      expect(heard).not.toContain('of another topic');
    });

    test('BU-02 many at once come in order, to each who listens, and none after the end of a subscription', async () => {
      const { bus, other } = await fresh();
      const first = await hears(other, bus, 't');
      const second = await hears(other, bus, 't');
      const said = Array.from({ length: 500 }, (_, n) => `m${n} ${'x'.repeat(200)}`);
      for (const message of said) bus.publish('t', message);
      const numbers = (heard: string[]) => heard.filter((message) => message.startsWith('m'));
      await expect.poll(() => numbers(first.heard).length, patience).toBe(500);
      await expect.poll(() => numbers(second.heard).length, patience).toBe(500);
      expect(numbers(first.heard)).toEqual(said);
      first.leave();
      bus.publish('t', 'm-last');
      await expect.poll(() => second.heard.includes('m-last'), patience).toBe(true);
      expect(first.heard).not.toContain('m-last');
    });

    test('BU-03 what is too long, and what is said after the end, is lost without a word', async () => {
      const { bus, other } = await fresh();
      const { heard } = await hears(other, bus, 't');
      bus.publish('t', 'x'.repeat(3_000_000));
      bus.publish('t', 'short');
      await expect.poll(() => heard.includes('short'), patience).toBe(true);
      await bus.close();
      bus.publish('t', 'late');
      bus.subscribe('t', nothing, nothing)();
    });
  });
}
