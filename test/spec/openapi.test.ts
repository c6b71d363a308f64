import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openApiFile } from '../../scripts/generate-openapi.ts';
import { openApiText } from '../../src/host/http/index.ts';

test('api/openapi.json is what the contracts come to: `npm run spec` writes it', async () => {
  expect(readFileSync(openApiFile, 'utf8') === (await openApiText(''))).toBe(true);
});
