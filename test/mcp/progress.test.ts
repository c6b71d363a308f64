import { expect, test } from 'vitest';
import { connect, kinds, textOf } from './clients.ts';
import { openShop } from './kit.ts';

test.concurrent.each(kinds)('%s: a call that is longer than its timer of 2 s lives by progress', async (kind) => {
  await using shop = await openShop({ mcp: { progressMs: 500 } });
  await using client = await connect(kind, { url: shop.url });
  const seen: number[] = [];
  const messages: string[] = [];
  const result = await client.call(
    'puppet',
    { prompt: 'call wait {}' },
    {
      timeout: 2_000,
      resetTimeoutOnProgress: true,
      onprogress({ progress, message }) {
        seen.push(progress);
        messages.push(String(message));
        // At least three seconds of waiting.
        if (messages.filter((text) => text === 'working').length === 7) shop.waiting.release();
      },
    },
  );
  expect(textOf(result)).toBe('got {"content":"waited"}');
  expect(messages.slice(0, 2)).toEqual(['started', 'calls wait']);
  expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  expect(new Set(seen).size).toBe(seen.length);
});

test.each(kinds)('%s: cancel stops the run', async (kind) => {
  await using shop = await openShop();
  await using client = await connect(kind, { url: shop.url });
  const controller = new AbortController();
  const call = client.call('puppet', { prompt: 'call wait {}' }, { signal: controller.signal });
  await shop.waiting.started;
  controller.abort();
  await expect(call).rejects.toThrow();
  expect(await shop.waiting.ended).toBe('aborted');
  // The connection goes on.
  expect(textOf(await client.call('puppet', { prompt: 'say on' }))).toBe('on');
});

test.each(kinds)("%s: two clients never see each other's traffic", async (kind) => {
  await using shop = await openShop({ mcp: { progressMs: 50 } });
  const ask = async (name: string) => {
    const asked: string[] = [];
    const client = await connect(
      kind,
      { url: shop.url },
      {
        onElicit: ({ message }) => {
          asked.push(message);
          return { action: 'accept', content: { decision: 'allow' } };
        },
      },
    );
    const heard = client.overhear();
    const texts: string[] = [];
    for (let n = 0; n < 3; n++) {
      texts.push(textOf(await client.call('puppet', { prompt: `say ${name}` }, { onprogress() {} })));
    }
    texts.push(textOf(await client.call('puppet', { prompt: `call pay {"amount": ${name}}` }, { onprogress() {} })));
    await client.close();
    return { heard: heard.join('\n'), texts, asked: asked.join('\n') };
  };
  const [one, two] = await Promise.all([ask('1111'), ask('2222')]);
  expect(one.texts).toEqual(['1111', '1111', '1111', 'got {"content":"paid 1111"}']);
  expect(two.texts).toEqual(['2222', '2222', '2222', 'got {"content":"paid 2222"}']);
  for (const [mine, others, { heard, asked }] of [
    ['1111', '2222', one],
    ['2222', '1111', two],
  ] as const) {
    expect(asked).toContain(`pays ${mine} euro`);
    expect(heard).toContain(mine);
    expect(heard + asked).not.toContain(others);
  }
});
