import { describe, expect, test } from 'vitest';
import type { AnyTool, ProvidedTool, ToolProvider } from '../../src/contracts/index.ts';
import { RunQueue } from '../../src/gate/index.ts';
import { offeredTools } from '../../src/host/hosted/offered-tools.ts';
import { HostToolRegistry } from '../../src/host/tools/tool-registry.ts';
import { door, tool } from './kit.ts';

const provided = (name: string) => tool(name) as unknown as ProvidedTool;

function registry(tools: AnyTool[], providers: Partial<ToolProvider>[]) {
  const warnings: string[] = [];
  const made = new HostToolRegistry(
    tools,
    providers.map((one) => ({ name: 'p', execute: () => 'ran', ...one })) as ToolProvider[],
    (message) => void warnings.push(message),
  );
  return { made, warnings };
}

describe('the tools of a host', () => {
  test('are its own, and the same for each agent without a provider', async () => {
    const { made } = registry([tool('a'), tool('b')], []);
    const offer = await made.forAgent('bot');
    expect([...offer.tools.keys()]).toEqual(['a', 'b']);
    expect(offer.descriptors.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(offer.tools.get('a')?.source).toBe('host');
    expect((await made.forAgent('other')).tools).toBe(offer.tools);
    expect(() => registry([tool('a'), tool('a')], [])).toThrow(expect.objectContaining({ code: 'E_DUPLICATE_TOOL' }));
  });

  test('are those of its providers, too, each with where it comes from', async () => {
    const asked: string[] = [];
    const { made, warnings } = registry(
      [tool('a')],
      [
        {
          name: 'shop',
          getToolsForAgent: (agent) => {
            asked.push(agent);
            return [provided('b')];
          },
        },
        { name: 'mcp:files', getToolsForAgent: () => [provided('c')] },
        { name: 'x', source: 'mcp:theirs', getToolsForAgent: () => [provided('d')] },
      ],
    );
    const { tools, descriptors } = await made.forAgent('bot');
    expect([...tools].map(([name, { source }]) => [name, source])).toEqual([
      ['a', 'host'],
      ['b', 'provider:shop'],
      ['c', 'mcp:files'],
      ['d', 'mcp:theirs'],
    ]);
    expect([descriptors.map(({ name }) => name), asked, warnings]).toEqual([['a', 'b', 'c', 'd'], ['bot'], []]);
  });

  test('lose their name to no provider; what is ill-formed is left out; both are told of once', async () => {
    let given = [provided('a'), { name: 'bad', inputSchema: 5 } as never, provided('b'), provided('b')];
    const { made, warnings } = registry([tool('a')], [{ name: 'shop', getToolsForAgent: () => [...given] }]);
    const { tools } = await made.forAgent('bot');
    expect([[...tools.keys()], tools.get('a')?.source]).toEqual([['a', 'b'], 'host']);
    expect(warnings).toEqual([
      'provider:shop: its tool a is left out: there is one of that name already, of host',
      expect.stringMatching(/^provider:shop: its tool bad is left out: ./),
      'provider:shop: its tool b is left out: there is one of that name already, of provider:shop',
    ]);
    given = [provided('a')];
    expect([...(await made.forAgent('bot')).tools.keys()]).toEqual(['a']);
    expect(warnings).toHaveLength(3);
    given = Array.from({ length: 1100 }, (_, n) => ({ name: `bad${n}`, inputSchema: 5 }) as never);
    await made.forAgent('bot');
    expect(warnings).toHaveLength(1000);
  });

  test('are made anew where a provider gives others, by agent', async () => {
    let given = [provided('b'), provided('c')];
    const { made } = registry([], [{ getToolsForAgent: () => given }]);
    const first = await made.forAgent('bot');
    expect(await made.forAgent('bot')).toBe(first);
    const ofOther = await made.forAgent('other');
    expect(ofOther).not.toBe(first);
    given = [...given];
    expect(await made.forAgent('bot')).toBe(first);
    given = given.toReversed();
    const turned = await made.forAgent('bot');
    expect([...turned.tools.keys()]).toEqual(['c', 'b']);
    given = given.slice(0, 1);
    expect([...(await made.forAgent('bot')).tools.keys()]).toEqual(['c']);
    given = [...given, provided('d')];
    expect([...(await made.forAgent('bot')).tools.keys()]).toEqual(['c', 'd']);
    given.push(provided('e'));
    expect([...(await made.forAgent('bot')).tools.keys()]).toEqual(['c', 'd', 'e']);
  });

  test('are refused where a provider gives no list of them', async () => {
    for (const odd of [undefined, { 0: provided('a') }, [5]]) {
      const { made } = registry([], [{ name: 'shop', getToolsForAgent: () => odd as never }]);
      await expect(made.forAgent('bot')).rejects.toThrow('tool provider shop: what getToolsForAgent() gave');
      await expect(made.forAgent('bot')).rejects.toThrow('tool provider shop');
    }
  });

  test('stand before those of one stream, which take none of their names', () => {
    const { descriptors, tools } = {
      tools: new Map([['a', {}]]),
      descriptors: [{ name: 'a', description: 'd', inputSchema: {} }],
    };
    const frame = { tools, descriptors } as never;
    expect(offeredTools(frame, undefined)).toBe(descriptors);
    expect(offeredTools(frame, [provided('b'), provided('c')]).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(() => offeredTools(frame, [provided('b'), provided('b')])).toThrow('two tools are named b');
    expect(() => offeredTools(frame, [provided('a')])).toThrow('two tools are named a');
  });
});

describe('calls that wait for their turn', () => {
  function queue(size: number) {
    const made = new RunQueue(size);
    const began: string[] = [];
    const doors = new Map<string, ReturnType<typeof door>>();
    const add = (name: string, exclusive = false) => {
      const one = door();
      doors.set(name, one);
      made.add(exclusive, () => {
        began.push(name);
        return one.opened;
      });
    };
    const end = async (name: string) => {
      doors.get(name)?.open(undefined);
      await new Promise((resolve) => setImmediate(resolve));
    };
    return { add, end, began };
  }

  test('run side by side up to their number, in the order in which they came', async () => {
    const { add, end, began } = queue(2);
    for (const name of ['a', 'b', 'c', 'd']) add(name);
    expect(began).toEqual(['a', 'b']);
    await end('b');
    expect(began).toEqual(['a', 'b', 'c']);
    await end('a');
    await end('c');
    await end('d');
    add('e');
    add('f');
    add('g');
    expect(began).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  test('run alone where they are exclusive, and let nobody overtake them', async () => {
    const { add, end, began } = queue(4);
    add('a');
    add('b', true);
    add('c');
    expect(began).toEqual(['a']);
    await end('a');
    expect(began).toEqual(['a', 'b']);
    add('d', true);
    await end('b');
    expect(began).toEqual(['a', 'b', 'c']);
    await end('c');
    expect(began).toEqual(['a', 'b', 'c', 'd']);
    await end('d');
    add('e');
    expect(began.at(-1)).toBe('e');
  });
});
