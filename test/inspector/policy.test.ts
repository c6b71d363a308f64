import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { axeFaults } from './axe.ts';
import { executablePath, noBrowser, shop, withBrowser } from './kit.ts';

const rules = (page: Page) => page.getByRole('list', { name: 'Rules that were tried' });

describe.skipIf(executablePath === undefined)(`the policy screen in Chromium${noBrowser}`, () => {
  const { open } = withBrowser();

  test('an approver sees calls by the rule that decided them, what policy says of one now, and what it would say of an edited one', async () => {
    const { page: url, ask, edit, runs } = await shop();
    await edit('anna', await ask('ben', 'order-7', 'refund', { order: 7, eur: 80 }), { order: 7, eur: 60 });
    await ask('ben', 'order-8', 'refund', { order: 8, eur: 90 });
    const anna = await open(url, 'anna');
    await anna.keyboard.press('g');
    await anna.keyboard.press('p');
    const rule = anna.getByRole('region', { name: 'Rule over-50' });
    await rule.getByText('1 approved, 0 not').waitFor();
    await anna.getByRole('list', { name: 'Open calls' }).getByRole('link').click();
    await rules(anna).getByText('args /eur: 90 is below minimum 5000').waitFor();
    await anna.getByRole('region', { name: 'Arguments of the call' }).getByText('90').waitFor();
    await anna.getByRole('button', { name: 'Try other arguments' }).click();
    await anna.getByLabel('Arguments to try, as JSON').fill('{"order": 8, "eur": 6000}');
    await anna.getByText('Policy on these arguments: denies it (rule never)').waitFor();
    expect(await axeFaults(anna)).toEqual([]);
    if (process.env.SHOTS) await anna.screenshot({ path: `${process.env.SHOTS}/policy.png` });
    // Its address can be sent to somebody else; who may not know of it learns nothing.
    const eve = await open(url, 'eve');
    await eve.goto(anna.url());
    await eve.getByRole('alert').getByText('there is no open question').waitFor();
    expect(await eve.getByText('refund').count()).toBe(0);
    expect(runs).toHaveLength(1);
  });

  test('an operator asks why of a call in a session of somebody else; what policy hides of it stays hidden', async () => {
    const { page: url, say } = await shop({
      operator: ({ id }) => (id === 'eve' ? { content: true } : id === 'bert' ? {} : undefined),
    });
    await say('ben', 'paid', JSON.stringify(['pay_card', { eur: 30, card: 'visa-secret' }]));
    const eve = await open(url, 'eve', { viewport: { width: 360, height: 740 }, colorScheme: 'dark' });
    await eve.goto(`${url}#/sessions/clerk/ben/paid`);
    const talk = eve.getByRole('region', { name: 'Conversation' });
    await talk.locator('.call > summary').click();
    await eve.getByText('Why? What policy says').click();
    await rules(eve).getByText('applies', { exact: true }).waitFor();
    await eve.getByRole('link', { name: 'Ask policy about it' }).click();
    await eve.getByRole('region', { name: 'Arguments of the call' }).getByText('[redacted]').waitFor();
    await rules(eve).getByText('applies', { exact: true }).waitFor();
    expect(await eve.locator('body').textContent()).not.toContain('visa-secret');
    expect(await axeFaults(eve)).toEqual([]);
    expect(await eve.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    if (process.env.SHOTS) await eve.screenshot({ path: `${process.env.SHOTS}/policy-360.png` });
    // An operator without content is not asked for leave: the server says nothing.
    const bert = await open(url, 'bert');
    await bert.goto(eve.url());
    await bert.getByRole('alert').waitFor();
    expect(await rules(bert).count()).toBe(0);
  });

  test('hostile names, arguments and ids in the address are text', async () => {
    const { page: url, ask, edit } = await shop();
    const markup = '<img src=x onerror="document.title=\'owned\'">\u202E';
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`member ${index}`, markup]));
    const deep = Array.from({ length: 150 }).reduce<object>((inner) => ({ inner }), { end: markup });
    const args = { [markup]: markup, deep, long: 'x'.repeat(900_000) };
    await edit('anna', await ask('ben', 'odd', 'anything', {}), { [markup]: markup });
    await ask('ben', 'hostile', 'anything', args);
    await ask('ben', 'many', 'anything', many);
    const anna = await open(url, 'anna');
    await anna.goto(`${url}#/policy`);
    const calls = anna.getByRole('list', { name: 'Open calls' }).getByRole('link');
    await expect.poll(() => calls.count()).toBe(2);
    for (const call of await calls.all()) {
      await call.click();
      await anna.getByText('U+202E').first().waitFor();
      await rules(anna).first().waitFor();
      expect(await anna.locator('main :is(script, iframe, object, img, a[href^="javascript"])').count()).toBe(0);
      expect(await anna.locator('[onerror], [onload]').count()).toBe(0);
      expect(await anna.locator('.line').count()).toBeLessThan(400);
    }
    await anna.goto(`${url}#/policy/${['clerk', 'ben', markup, markup].map(encodeURIComponent).join('/')}`);
    await anna.getByRole('alert').waitFor();
    await anna.getByText('U+202E').first().waitFor();
    expect(await anna.title()).toBe('(2) Inbox · Coxswain');
  });
});
