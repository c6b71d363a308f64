import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { Looks } from './axe.ts';
import { axeFinds } from './axe.ts';
import { executablePath, killableShop, noBrowser, shop, withBrowser } from './kit.ts';

const approve = (page: Page, name: RegExp | string = /^Approve/) => page.getByRole('button', { name });
const card = (page: Page, text: string) => page.getByRole('link').filter({ hasText: text }).first();

/** How often two people answer one question, and, a tenth of that, how often a server is killed: `INSPECTOR_ROUNDS=200` takes minutes. */
const answers = Number(process.env.INSPECTOR_ROUNDS ?? 5);
const rounds = { answers, restarts: Math.max(3, Math.round(answers / 10)) };

describe.skipIf(executablePath === undefined)(`the inbox in Chromium${noBrowser}`, () => {
  const { open } = withBrowser();

  test('a supervisor reads, edits and approves by keyboard; what ran and what came of it is told; the requester is told why it is not theirs', async () => {
    const { page: url, ask, runs } = await shop();
    const id = await ask('ben', 'order-7', 'refund', { order: 7, eur: 80 });
    const ben = await open(url, 'ben');
    await card(ben, 'refund').click();
    await ben.getByText('You asked for this yourself').waitFor();
    expect(await approve(ben).count()).toBe(0);
    const anna = await open(url, 'anna');
    await expect.poll(() => anna.title()).toBe('(1) Inbox · Coxswain');
    await anna.keyboard.press('j');
    await anna.getByText('over 50 needs a supervisor').first().waitFor();
    await anna.getByText('over-50').first().waitFor();
    expect(new URL(anna.url()).hash).toBe(`#/inbox/clerk/ben/order-7/${encodeURIComponent(id)}`);
    await anna.getByRole('button', { name: 'Edit…' }).waitFor();
    await anna.keyboard.press('e');
    await anna.getByLabel('eur').fill('zero');
    await anna.getByText('Not a number.').waitFor();
    expect(await approve(anna).getAttribute('aria-disabled')).toBe('true');
    await anna.getByLabel('eur').fill('60');
    await approve(anna, /Approve refund as edited.*eur 60/).waitFor();
    await anna.getByRole('heading', { name: 'Arguments that were asked for' }).click();
    await anna.keyboard.press('a');
    await anna.keyboard.press('Enter');
    await anna.getByText('refund has run').waitFor();
    await anna.getByText('approved by you').waitFor();
    expect(runs).toEqual([{ name: 'refund', args: { order: 7, eur: 60 } }]);
    // The requester's page hears of it by itself.
    await ben.getByText('approved by anna').waitFor();
    await expect.poll(() => anna.title()).toBe('Coxswain');
  });

  test('INSP-20 no edit is offered where arguments cannot be edited, by button or by key', async () => {
    const { page: url, ask, runs } = await shop();
    await ask('ben', 'order-7', 'seal', { order: 7 });
    const anna = await open(url, 'anna');
    await card(anna, 'seal').click();
    await approve(anna, /Approve seal/).waitFor();
    await anna.getByRole('heading', { name: 'Arguments' }).waitFor();
    await anna.keyboard.press('e');
    expect(await anna.getByRole('button', { name: 'Edit…' }).count()).toBe(0);
    expect(await anna.getByLabel('order').count()).toBe(0);
    await approve(anna, /Approve seal/).click();
    await anna.getByText('seal has run').waitFor();
    expect(runs).toEqual([{ name: 'seal', args: { order: 7 } }]);
  });

  test('a no goes with its reason, and the agent is told', async () => {
    const { page: url, ask, runs } = await shop();
    await ask('ben', 'order-7', 'refund', { order: 7, eur: 80 });
    const anna = await open(url, 'anna');
    await card(anna, 'refund').click();
    await anna.keyboard.press('d');
    await anna.getByLabel('Reason').fill('not this one');
    await anna.getByRole('button', { name: 'Deny refund' }).click();
    await anna.getByText('denied by you').waitFor();
    await anna.getByText('not this one').waitFor();
    expect(runs).toEqual([]);
  });

  test(
    'of two browsers that answer at once one wins, and both see who',
    async () => {
      const { page: url, ask, runs } = await shop();
      const [anna, bert] = [await open(url, 'anna'), await open(url, 'bert')];
      for (let round = 0; round < rounds.answers; round++) {
        await ask('ben', `order-${round}`, 'refund', { order: round, eur: 80 });
        for (const page of [anna, bert]) await card(page, `order ${round}`).click();
        for (const page of [anna, bert]) {
          await expect.poll(() => approve(page).getAttribute('aria-disabled')).toBe('false');
        }
        // Pressed at once, without a look at the page: one that shows the other's answer by then has no such button.
        const buttons = await Promise.all([anna, bert].map((page) => approve(page).elementHandle()));
        await Promise.all(
          buttons.map((button) => button?.evaluate((element) => (element as { click(): void }).click())),
        );
        const verdicts = await Promise.all(
          [anna, bert].map((page) => page.locator('.verdict').filter({ hasText: 'approved by' }).textContent()),
        );
        const winner = verdicts[0]?.includes('you') ? 'anna' : 'bert';
        expect(verdicts[0]).toContain(winner === 'anna' ? 'by you' : 'by bert');
        expect(verdicts[1]).toContain(winner === 'bert' ? 'by you' : 'by anna');
        await anna.getByText('refund has run').waitFor();
        expect(runs).toHaveLength(round + 1);
      }
    },
    60_000 + rounds.answers * 4_000,
  );

  test('a quorum: the first yes is counted on both pages, the second one runs it', async () => {
    const { page: url, ask, runs } = await shop();
    await ask('ben', 'files', 'write_file', { path: 'a.txt', text: 'a\nc\n' });
    const [anna, bert] = [await open(url, 'anna'), await open(url, 'bert')];
    for (const page of [anna, bert]) {
      await card(page, 'write_file').click();
      await page.getByText('added: c').waitFor();
    }
    await approve(anna).click();
    await anna.getByText('Your approval counts').waitFor();
    await bert.getByText('1 of 2: anna').waitFor();
    expect(runs).toEqual([]);
    await approve(bert).click();
    await bert.getByText('write_file has run').waitFor();
    await anna.getByText('write_file has run').waitFor();
    expect(runs).toHaveLength(1);
  });

  test(
    'the server is killed and started again under an open inbox, amid turns and answers too: it heals by itself, nothing is shown twice or lost, nothing runs twice',
    async () => {
      const { page: url, ask, kill, start, open: asked, runs } = await killableShop();
      await ask('order-0', 100);
      const anna = await open(url, 'anna');
      await card(anna, 'order 100').click();
      const address = anna.url();
      /** Orders of the questions on the page, of all or of those that wait. */
      const shown = async (which = '') =>
        (await anna.locator(`.list a.card${which}`).allTextContents())
          .map((text) => Number(/order (\d+)/.exec(text)?.[1]))
          .sort();
      for (let round = 1; round <= rounds.restarts; round++) {
        const order = 100 + round;
        // In turns: while nothing happens, amid a turn that will ask, and amid an answer.
        if (round % 3 === 1) {
          void ask(`order-${round}`, order);
        } else if (round % 3 === 2) {
          await ask(`order-${round}`, order);
          await card(anna, `order ${order}`).click();
          await expect.poll(() => approve(anna).getAttribute('aria-disabled')).toBe('false');
          await approve(anna).evaluate((element) => (element as { click(): void }).click());
        }
        await kill();
        await anna.getByText('not connected: trying again').waitFor();
        await start();
        await anna.getByRole('status').filter({ hasText: 'live' }).waitFor();
        // What is asked from now on comes, too.
        await ask(`then-${round}`, 500 + round);
        await card(anna, `order ${500 + round}`).waitFor();
        await expect.poll(() => shown(':not(.closed)')).toEqual((await asked()).sort());
        const all = await shown();
        expect(all).toEqual([...new Set(all)]);
        expect(new Set(runs()).size).toBe(runs().length);
      }
      await anna.goto('about:blank');
      await anna.goto(address);
      await approve(anna).click();
      await anna.getByText('refund has run').waitFor();
      expect(runs().filter((order) => order === 100)).toHaveLength(1);
    },
    60_000 + rounds.restarts * 60_000,
  );

  test('nobody says yes before all lines have been on the screen', async () => {
    const { page: url, ask } = await shop();
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`member ${index}`, index]));
    await ask('ben', 'many', 'anything', { many });
    const anna = await open(url, 'anna');
    await card(anna, 'anything').click();
    await anna.getByText('lines have not been on the screen yet').waitFor();
    // It says that it is disabled, and stays where the keyboard finds it.
    await approve(anna).click({ force: true });
    const box = anna.getByRole('region', { name: 'Arguments as JSON' });
    await box.getByText('"member 3"').waitFor();
    const before = await anna.locator('.blocked').textContent();
    await box.press('End');
    await box.getByText('"member 9999"').waitFor();
    // The end has been seen, the middle has not.
    await anna.getByRole('button', { name: 'Next lines that were not on the screen' }).click();
    await expect.poll(() => anna.locator('.blocked').textContent()).not.toBe(before);
    expect(await approve(anna).getAttribute('aria-disabled')).toBe('true');
    expect(await anna.locator('.line').count()).toBeLessThan(200);
  });

  test('hostile content is text: nothing of it runs, hides or hangs', async () => {
    const { page: url, ask } = await shop();
    const markup = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>';
    const deep = Array.from({ length: 150 }).reduce<object>((inner) => ({ inner }), { end: markup });
    const hostile = {
      [markup]: markup,
      bidi: 'ceo@exam\u202Emoc.live\u200B',
      long: 'x'.repeat(900_000),
      deep,
      preview: [
        { type: 'text', text: `${markup}\u2066` },
        { type: 'diff', path: markup, oldText: markup, newText: `${markup}\u200D` },
        { type: 'terminal', text: `\u001b[31m${markup}` },
        { type: 'table', columns: [markup], rows: [[markup]] },
        { type: 'media', mimeType: 'image/svg+xml', data: btoa('<svg onload="document.title=1"/>') },
        { type: 'unheard-of', html: markup },
      ],
    };
    await ask(`ben`, 'hostile', 'anything', hostile);
    const anna = await open(url, 'anna');
    await card(anna, 'anything').click();
    const shown = anna.getByRole('article');
    for (const mark of ['U+202E', 'U+200B', 'U+2066', 'U+200D', 'U+001B'])
      await shown.getByText(mark).first().waitFor();
    await shown.getByText('lines have not been on the screen yet').waitFor();
    expect(await anna.locator('article :is(script, iframe, object, a[href^="javascript"], img)').count()).toBe(0);
    expect(await anna.title()).toBe('(1) Inbox · Coxswain');
    expect(await anna.locator('[onerror], [onload]').count()).toBe(0);
  });

  test('axe finds nothing serious: light, dark, 1280 and 360 px; nothing is wider than the screen', async () => {
    const { page: url, ask } = await shop();
    await ask('ben', 'files', 'write_file', { path: 'a.txt', text: 'a\nc\n' });
    const anna = await open(url, 'anna', { viewport: { width: 1280, height: 740 }, reducedMotion: 'reduce' });
    await card(anna, 'write_file').waitFor();
    await axeFinds(anna, looks);
    await card(anna, 'write_file').click();
    await anna.getByText('added: c').waitFor();
    await anna.getByRole('button', { name: 'Edit…' }).click();
    await anna.getByRole('button', { name: 'Deny…' }).click();
    await axeFinds(anna, looks);
    await anna.getByRole('button', { name: 'Keys' }).click();
    await anna.getByRole('dialog', { name: 'Keys' }).waitFor();
    await axeFinds(anna, looks);
    await anna.keyboard.press('Escape');
    await anna.getByRole('button', { name: 'Sign out' }).click();
    await anna.getByLabel('Your token').waitFor();
    await axeFinds(anna, looks);
  });
});

const looks: Looks = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 360],
];
