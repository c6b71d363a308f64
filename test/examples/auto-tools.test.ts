import { expect, test } from 'vitest';
import { demo } from '../../examples/auto-tools/demo.ts';
import { stub } from '../../examples/auto-tools/stub.ts';
import { demoTools } from '../../examples/auto-tools/tools.ts';
import type { Content } from '../../src/contracts/index.ts';
import type { Model } from '../../src/index.ts';

test('S1-26 weather, time and calculator, in one go and streamed', async () => {
  const seen: Content[][] = [];
  const model = stub();
  const watched: Model = {
    name: 'watched',
    generate(request, options) {
      seen.push(structuredClone(request.contents) as Content[]);
      return model.generate(request, options);
    },
  };
  let out = '';
  await demo(
    watched,
    demoTools(() => new Date('2026-01-02T03:04:00Z')),
    (text) => {
      out += text;
    },
  );
  expect(out).toBe(
    'Fog over San Francisco, 14 °C.\n  (2 model calls)\n' +
      'Tokyo has a clear sky and 22 °C; the tool has told me the time.\n  (2 model calls)\n' +
      'That is 390.\n  (3 model calls)\n',
  );
  const results = seen.map((contents) => contents.at(-1)?.parts.map((part) => 'response' in part && part.response));
  expect(results[1]).toEqual([{ location: 'San Francisco', weather: 'fog, 14 °C' }]);
  expect(results[3]).toEqual([{ location: 'Tokyo', weather: 'clear, 22 °C' }, { content: '12:04' }]);
  expect([results[5], results[6]]).toEqual([[{ content: 391 }], [{ content: 390 }]]);
});
