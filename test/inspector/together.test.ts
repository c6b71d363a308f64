import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { axeFaults } from './axe.ts';
import { executablePath, noBrowser, shop, withBrowser } from './kit.ts';

const cardOf = (page: Page, text: string) => page.getByRole('link').filter({ hasText: text }).first();
const mark = (page: Page, text: string) =>
  page.getByRole('listitem').filter({ hasText: text }).getByRole('checkbox', { name: 'Mark refund' });
const read = async (page: Page, text: string) => {
  await cardOf(page, text).click();
  await page.getByRole('region', { name: 'Arguments as JSON' }).scrollIntoViewIfNeeded();
  await page
    .getByRole('button', { name: /^Approve/ })
    .and(page.locator('[aria-disabled="false"]'))
    .waitFor();
};

describe.skipIf(executablePath === undefined)(`several answers at once, in Chromium${noBrowser}`, () => {
  const { open } = withBrowser();

  test('those alone can be marked that were shown whole; what was decided or has changed meanwhile is not approved with them', async () => {
    const { page: url, ask, runs } = await shop();
    for (const order of [1, 2, 3]) await ask('ben', `order-${order}`, 'refund', { order, eur: 80 });
    const long = Array.from({ length: 400 }, (_, line) => `line ${line}`).join('\n');
    await ask('ben', 'file', 'write_file', { path: 'long.txt', text: long });
    const anna = await open(url, 'anna');
    await anna.getByText('Questions that you have read whole can be marked here').waitFor();
    expect(await anna.getByRole('checkbox').count()).toBe(0);
    // One whose lines have not all been on the screen.
    await cardOf(anna, 'long.txt').click();
    await anna.getByText(/have not been on the screen yet/).waitFor();
    for (const order of [1, 2, 3]) {
      await read(anna, `order ${order} `);
      if (order === 1) await mark(anna, `order ${order} `).check();
      else await anna.keyboard.press('x');
    }
    await expect.poll(() => anna.getByRole('checkbox').count()).toBe(3);
    await anna.getByText('3 marked').waitFor();
    expect(await axeFaults(anna)).toEqual([]);
    await anna.getByRole('button', { name: 'Approve 3…' }).click();
    const dialog = anna.getByRole('dialog', { name: 'Approve 3 questions' });
    expect(await dialog.getByRole('listitem').allTextContents()).toHaveLength(3);
    expect(await axeFaults(anna)).toEqual([]);
    if (process.env.SHOTS) await anna.screenshot({ path: `${process.env.SHOTS}/together.png` });
    await anna.getByRole('button', { name: 'Answer none' }).click();
    // Somebody else decides one of them meanwhile: it is not among them any more.
    const bert = await open(url, 'bert');
    await read(bert, 'order 2 ');
    await bert.getByRole('button', { name: /^Approve/ }).click();
    await anna.getByText('2 marked').waitFor();
    await anna.getByRole('button', { name: 'Approve 2…' }).click();
    await dialog.or(anna.getByRole('dialog')).getByLabel('Reason').fill('all are in order');
    await anna.getByRole('button', { name: 'Approve these 2' }).click();
    await anna.getByText('2 approved.').waitFor();
    await expect.poll(() => runs.length).toBe(3);
    expect(runs.map(({ args }) => (args as { order: number }).order).toSorted()).toEqual([1, 2, 3]);
  });

  test('several are denied together, with one reason; the agents get it', async () => {
    const { page: url, ask, runs } = await shop();
    for (const order of [1, 2]) await ask('ben', `order-${order}`, 'refund', { order, eur: 80 });
    const anna = await open(url, 'anna', { viewport: { width: 360, height: 740 }, colorScheme: 'dark' });
    for (const order of [1, 2]) {
      await read(anna, `order ${order} `);
      await anna.getByRole('link', { name: '← Inbox' }).click();
      await mark(anna, `order ${order} `).check();
    }
    expect(await axeFaults(anna)).toEqual([]);
    expect(await anna.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    if (process.env.SHOTS) await anna.screenshot({ path: `${process.env.SHOTS}/together-360.png` });
    await anna.getByRole('button', { name: 'Deny 2…' }).click();
    await anna.getByLabel('Reason').fill('not these');
    await anna.getByRole('button', { name: 'Deny these 2' }).click();
    await anna.getByText('2 denied.').waitFor();
    const ben = await open(url, 'ben');
    await ben.goto(`${url}#/sessions/clerk/ben/order-1`);
    await ben.getByText('✓ completed').waitFor();
    await ben.getByRole('region', { name: 'Conversation' }).locator('.call > summary').click();
    await ben.getByText('not these').first().waitFor();
    expect(runs).toEqual([]);
  });

  test('a question that comes while the page is not looked at is announced by the desktop, without what it is about; a click shows it', async () => {
    const { page: url, ask } = await shop();
    await ask('ben', 'early', 'refund', { order: 1, eur: 80 });
    const anna = await open(url, 'anna');
    await anna.context().grantPermissions(['notifications']);
    await anna.evaluate(`
      globalThis.shown = [];
      globalThis.Notification = class extends EventTarget {
        static permission = 'granted';
        static requestPermission = async () => 'granted';
        constructor(title, options) { super(); shown.push({ title, ...options }); globalThis.newest = this; }
        close() {}
      };
      Object.defineProperty(document, 'hasFocus', { value: () => globalThis.isLookedAt === true });
    `);
    const shown = () => anna.evaluate('shown') as Promise<{ title: string; body: string }[]>;
    await anna.getByRole('button', { name: 'Notify me' }).click();
    await anna.getByRole('button', { name: 'Notifies you' }).waitFor();
    await ask('ben', 'order-7', 'refund', { order: 4242, eur: 80 });
    await expect.poll(async () => (await shown()).length).toBe(1);
    expect(await shown()).toEqual([
      { title: 'refund waits for your answer', body: 'asked for ben', tag: expect.stringContaining('order-7') },
    ]);
    await anna.evaluate('newest.onclick()');
    await anna.getByRole('heading', { name: 'refund' }).waitFor();
    expect(anna.url()).toContain('/ben/order-7/');
    await anna.evaluate('isLookedAt = true');
    await ask('ben', 'order-8', 'refund', { order: 8, eur: 80 });
    await cardOf(anna, 'order 8 ').waitFor();
    expect(await shown()).toHaveLength(1);
    await expect.poll(() => anna.title()).toBe('(3) Inbox · Coxswain');
  });

  test('history is filtered by tool, user and answer', async () => {
    const { page: url, ask, edit } = await shop({ operator: ({ id }) => (id === 'bert' ? {} : undefined) });
    for (const order of [1, 2])
      await edit('anna', await ask('ben', `order-${order}`, 'refund', { order, eur: 80 }), { order, eur: 60 });
    await edit('anna', await ask('eve', 'eves', 'anything', {}), { more: 1 });
    const bert = await open(url, 'bert');
    await bert.getByRole('button', { name: 'Decided' }).click();
    const rows = bert.getByRole('list', { name: 'Decided questions' }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(3);
    await bert.getByRole('searchbox', { name: 'Tool' }).fill('refund');
    await expect.poll(() => rows.count()).toBe(2);
    await bert.getByRole('searchbox', { name: 'Tool' }).fill('');
    await bert.getByRole('searchbox', { name: 'User' }).fill('eve');
    await expect.poll(() => rows.count()).toBe(1);
    await bert.getByLabel('Answer').selectOption('decline');
    await bert.getByText('Nothing is found.').waitFor();
    expect(await axeFaults(bert)).toEqual([]);
  });
});
