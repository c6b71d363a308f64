import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { application, executablePath, open, why } from '../chromium.ts';

const write = async (page: Page, text: string) => {
  await page.getByLabel('Message').fill(text);
  await page.getByRole('button', { name: 'Write' }).click();
};
const connected = (page: Page) => page.getByRole('status', { name: 'ready' }).waitFor();
const sent = (page: Page, text: string) => page.getByText(`sent to Bo: ${text}`, { exact: true });

/** What the example does in a browser, whatever runs it. */
export function drivesLetters(name: string, start: Parameters<typeof application>[0]): void {
  describe.skipIf(executablePath === undefined)(`useSession and useApprovals${name} in Chromium${why}`, () => {
    test('text, a call, its question, a reload, two tabs, an edit, and a server that is restarted under the page', async () => {
      const { url, restart, stop, resume } = await application(start);
      const faults: string[] = [];
      const page = await open(url, faults);
      await write(page, 'tell Bo that lunch is at 12');
      await page.getByText('I write to Bo.', { exact: true }).waitFor();
      await page.getByLabel('Letter').waitFor();
      await page.reload();
      await page.getByLabel('Letter').waitFor();
      const second = await page.context().newPage();
      await second.goto(url);
      await second.getByLabel('Letter').waitFor();
      // Both tabs stay where they are while the server is restarted.
      await restart();
      await connected(page);
      await connected(second);
      expect(await page.getByLabel('Letter').inputValue()).toBe('Dear Bo, lunch is at 12.');
      await second.getByLabel('Letter').fill('Dear Bo, lunch is at 1.');
      await second.getByRole('button', { name: 'Send it' }).click();
      for (const tab of [page, second]) {
        await sent(tab, 'Dear Bo, lunch is at 1.').waitFor();
        await tab.getByText('It is on its way.').waitFor();
        expect(await tab.getByLabel('Letter').count()).toBe(0);
      }
      // The tab that has not spoken yet does.
      await write(page, 'tell Bo that supper is at 7');
      await page.getByRole('button', { name: 'Do not' }).click();
      for (const tab of [page, second]) await tab.getByText('It stays here, then.').waitFor();
      await stop();
      await page.getByRole('status', { name: 'waiting' }).waitFor();
      await resume();
      await connected(page);
      await write(page, 'tell Bo hello');
      await second.getByLabel('Letter').waitFor();
      expect(await sent(page, 'Dear Bo, lunch is at 1.').count()).toBe(1);
      expect(faults.filter((fault) => !fault.startsWith('503'))).toEqual([]);
    });

    test('a letter that somebody else has to look at waits for them, in their inbox', async () => {
      const { url } = await application(start);
      const faults: string[] = [];
      const page = await open(url, faults);
      await write(page, 'tell Bo that lunch is at 12 and supper at 7, and that both are in the garden');
      await page.getByText('Waits for an editor.').waitFor();
      expect(await page.getByRole('button', { name: 'Send it' }).count()).toBe(0);
      const editor = await open(`${url}/as/bert`, faults);
      await editor.getByRole('button', { name: 'Send the letter of anna' }).click();
      await page.getByText('It is on its way.').waitFor();
      await editor.getByRole('button', { name: 'Send the letter of anna' }).waitFor({ state: 'detached' });
      expect(faults).toEqual([]);
    });
  });
}
