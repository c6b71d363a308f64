import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { start } from '../../examples/page/main.ts';
import { application, executablePath, open, why } from '../chromium.ts';
import { built } from '../packed.ts';

describe.skipIf(executablePath === undefined)(`a page without a bundler in Chromium${why}`, () => {
  test('the client of the built package, loaded by an import map: a message, a question, a reload, a yes', {
    timeout: 180_000,
  }, async () => {
    const dist = dirname(built('cli.js'));
    const { url } = await application(({ port = 0 }) => start({ port, dist }));
    const faults: string[] = [];
    const page = await open(url, faults);
    await page.getByLabel('Message').fill('turn the lamp on');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('switch_lamp: the lamp is on').waitFor();
    await page.getByText('Done.').waitFor();
    expect(faults).toEqual([]);
  });
});
