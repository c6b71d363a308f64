import { describe, expect, test } from 'vitest';
import { axeFaults } from './axe.ts';
import { executablePath, noBrowser, shop, withBrowser } from './kit.ts';

describe.skipIf(executablePath === undefined)(`what was decided, in Chromium${noBrowser}`, () => {
  const { open } = withBrowser();

  test('an approver finds what they decided, after a restart too, and sees what came of it; others find nothing', async () => {
    const { page: url, ask, edit, restart } = await shop();
    await edit('anna', await ask('ben', 'order-7', 'refund', { order: 7, eur: 80 }), { order: 7, eur: 60 });
    const markup = '<img src=x onerror="document.title=1">\u202E';
    await edit('bert', await ask('ben', 'odd', 'anything', { markup }), { markup });
    await restart();
    const anna = await open(url, 'anna');
    await anna.getByRole('button', { name: 'Decided' }).click();
    const list = anna.getByRole('list', { name: 'Decided questions' });
    await list.getByText('approved with changes by you; it has run').waitFor();
    expect(await list.getByRole('listitem').count()).toBe(1);
    expect(await axeFaults(anna)).toEqual([]);
    await list.getByRole('link').click();
    await anna.getByText('approved by you').first().waitFor();
    await anna.getByText('refund has run').waitFor();
    await anna.getByRole('region', { name: 'Arguments that it ran with' }).getByText('60').waitFor();
    // The owner of the sessions finds both, and filters them.
    const ben = await open(url, 'ben', { viewport: { width: 360, height: 740 } });
    await ben.getByRole('button', { name: 'Decided' }).click();
    const bens = ben.getByRole('list', { name: 'Decided questions' }).getByRole('listitem');
    await expect.poll(() => bens.count()).toBe(2);
    await ben.getByLabel('Person').fill('anna');
    await ben.getByLabel('When').selectOption('last 7 days');
    await expect.poll(() => bens.count()).toBe(1);
    await ben.getByLabel('Person').fill('');
    await expect.poll(() => bens.count()).toBe(2);
    await ben.getByRole('searchbox', { name: 'Search decided questions' }).fill('bert');
    await expect.poll(() => bens.count()).toBe(1);
    await bens.getByRole('link').click();
    await ben.getByText('U+202E').first().waitFor();
    expect(await ben.locator('main :is(img, script)').count()).toBe(0);
    expect(await ben.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    const eve = await open(url, 'eve');
    await eve.getByRole('button', { name: 'Decided' }).click();
    await eve.getByText('Nothing is found.').waitFor();
    await eve.getByLabel('Answer').selectOption('not answered in time');
    await eve.getByText('Nothing is found.').waitFor();
  });

  test('INSP-21 INSP-22 what an agent that was called asks is in the inbox and among what was decided; the card of its call has the rule and leads to its session', async () => {
    const {
      page: url,
      ask,
      runs,
    } = await shop({
      operator: ({ id }) => (id === 'eve' ? { content: true } : undefined),
    });
    await ask('ben', 'order-7', 'expert', { request: JSON.stringify(['refund', { order: 7, eur: 80 }]) });
    const anna = await open(url, 'anna');
    const question = anna.getByRole('link').filter({ hasText: 'refund' }).first();
    await question.getByText('for ben by expert · over-50').waitFor();
    await question.click();
    await anna.getByRole('button', { name: /^Approve refund/ }).click();
    await anna.getByText('refund has run').waitFor();
    expect(runs).toEqual([{ name: 'refund', args: { order: 7, eur: 80 } }]);
    await anna.goto(`${url}#/inbox`);
    await anna.getByRole('button', { name: 'Decided' }).click();
    const list = anna.getByRole('list', { name: 'Decided questions' });
    await list.getByText('for ben by expert · order-7 · over-50').waitFor();
    await list.getByRole('link').click();
    await anna.getByText('approved by you').first().waitFor();
    await anna.getByText('refund has run').waitFor();
    expect(await list.locator('[aria-current]').count()).toBe(1);
    for (const who of ['ben', 'eve'] as const) {
      const page = await open(url, who);
      await page.goto(`${url}#/sessions/clerk/ben/order-7`);
      const call = page.locator('details.call').filter({ hasText: 'expert' });
      await call.getByText('done · free').click();
      await call.getByText('rule free').waitFor();
      // The same with what the agent has used is no other decision.
      expect(await call.getByText('approved by policy').count()).toBe(1);
      await call.getByText('Why? What policy says, rule by rule').click();
      await call.getByText('Policy as it is now allows it (rule free).').waitFor();
      // Rules are for those who judge.
      if (who === 'eve') await call.getByText('shop.yaml:4').waitFor();
      await call.getByRole('link', { name: 'Session of the agent expert' }).click();
      const inside = page.locator('details.call').filter({ hasText: 'refund' });
      await inside.getByText('done · over-50').waitFor();
    }
  });
});
