import { expect, test } from 'vitest';
import { EventBody } from '../../src/host/http/event-body.ts';
import { HeldChars } from '../../src/host/http/held-chars.ts';

/** Some of an event that is larger than what a reader is given at a time. */
async function begun(before: readonly string[]) {
  const held = new HeldChars().answer('ben');
  let isGone: boolean | undefined;
  const body = new EventBody({
    keepAliveMs: 60_000,
    stallMs: 60_000,
    closeMs: 60_000,
    held,
    over: (gone) => {
      isGone = gone;
    },
  });
  const reader = body.stream.pipeThrough(new TextDecoderStream()).getReader();
  for (const text of before) body.write(text);
  const first = (await reader.read()).value ?? '';
  const rest = async () => {
    let text = first;
    for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value;
    return { blocks: text.split('\n\n').slice(0, -1), isGone };
  };
  return { body, rest };
}

const large = (id: number, size: number) => `id: ${id}\ndata: ${`${id}`.repeat(size)}\n\n`;
const RETRY = 'retry: 1000';
const RECONNECT = 'event: reconnect\ndata: {"reason":"too slow"}';

test.each([
  ['one', [large(7, 200_000), large(8, 10)], [large(7, 200_000)]],
  ['one behind small ones', [large(1, 10), large(2, 70_000), large(3, 70_000)], [large(1, 10), large(2, 70_000)]],
  ['none', [large(1, 10)], [large(1, 10)]],
])('HTTP-13 who is to come back has the whole of an event that it has a part of: %s', async (_, given, whole) => {
  const { body, rest } = await begun(given);
  body.reconnect('too slow');
  const { blocks, isGone } = await rest();
  // What follows a part of an event would be read as the rest of it, and its id as that of an event that is here.
  expect(blocks).toEqual([RETRY, ...whole.map((text) => text.trimEnd()), RECONNECT]);
  expect(isGone).toBe(false);
});
