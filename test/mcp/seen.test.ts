import { describe, expect, test } from 'vitest';
import type { AnyTool, DisplayContent } from '../../src/contracts/index.ts';
import { defineTool } from '../../src/contracts/index.ts';
import { connect, kinds, textOf } from './clients.ts';
import { openShop } from './kit.ts';

const allow = { action: 'accept', content: { decision: 'allow' } } as const;

describe('a yes is for what was seen', () => {
  const write = (preview: () => DisplayContent[], runs: string[]): AnyTool =>
    defineTool({
      name: 'write',
      description: 'Writes.',
      inputSchema: { type: 'object' },
      preview,
      execute() {
        runs.push('write');
        return 'written';
      },
    });

  test.each(kinds)('%s: what a form cannot show whole is not approved in one', async (kind) => {
    const long = `${'a'.repeat(20_000)} and then everything is wiped`;
    for (const [part, why] of [
      [{ type: 'text', text: long }, `takes ${long.length + 45} characters`],
      [{ type: 'diff', path: 'a.txt', newText: long }, 'characters, and a form shows 20000'],
      [{ type: 'hologram', data: 'x' }, 'is hologram, which a form cannot show'],
    ] as [DisplayContent, string][]) {
      const runs: string[] = [];
      await using shop = await openShop({ host: { tools: [write(() => [part], runs)] } });
      let asked = 0;
      await using client = await connect(
        kind,
        { url: shop.url },
        {
          onElicit() {
            asked += 1;
            return allow;
          },
        },
      );
      const result = await client.call('puppet', { prompt: 'call write {}' });
      expect(textOf(result)).toContain(why);
      expect(textOf(result)).toContain('coxswain approvals approve');
      expect({ asked, runs }).toEqual({ asked: 0, runs: [] });
    }
  });

  test.each(kinds)(
    '%s: a preview that never holds still is asked about three times, then settled elsewhere',
    async (kind) => {
      const runs: string[] = [];
      let n = 0;
      const preview = () => [{ type: 'text' as const, text: `now ${n++}` }];
      await using shop = await openShop({ host: { tools: [write(preview, runs)] } });
      let asked = 0;
      await using client = await connect(
        kind,
        { url: shop.url },
        {
          onElicit() {
            asked += 1;
            return allow;
          },
        },
      );
      const result = await client.call('puppet', { prompt: 'call write {}' });
      expect(textOf(result)).toContain('has changed 3 times while it was asked about');
      expect({ asked, runs }).toEqual({ asked: 3, runs: [] });
    },
  );

  test('a form shows what is long, whole, and what hides itself', async () => {
    const runs: string[] = [];
    const text = `${'a'.repeat(19_000)}\u001b[2K\u202etxt.exe\u200b the end`;
    await using shop = await openShop({ host: { tools: [write(() => [{ type: 'text', text }], runs)] } });
    let message = '';
    await using client = await connect(
      'v1',
      { url: shop.url },
      {
        onElicit(question) {
          message = question.message;
          return allow;
        },
      },
    );
    await client.call('puppet', { prompt: 'call write {}' });
    expect(message).toContain('\\u001b[2K\\u202etxt.exe\\u200b the end');
    expect(runs).toEqual(['write']);
  });
});
