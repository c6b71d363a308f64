import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { axeFaults } from './axe.ts';
import { executablePath, noBrowser, shop, withBrowser } from './kit.ts';

const approve = (page: Page) => page.getByRole('button', { name: /^Approve/ });
const rules = (page: Page) => page.getByRole('list', { name: 'Rules that were tried' });

describe.skipIf(executablePath === undefined)(`why, in Chromium${noBrowser}`, () => {
  const { open } = withBrowser();

  test('an approver sees each rule with its place and why it does not apply, and what policy says of an edit before it is sent', async () => {
    const { page: url, ask, runs } = await shop();
    await ask('ben', 'order-7', 'refund', { order: 7, eur: 80 });
    const anna = await open(url, 'anna');
    await anna.getByRole('link').filter({ hasText: 'refund' }).first().click();
    await anna.getByText('Why? What policy says').click();
    const tried = rules(anna).getByRole('listitem');
    await tried.filter({ hasText: 'shop.yaml:1 ("never")' }).getByText('args /eur: 80 is below minimum 5000').waitFor();
    await tried.filter({ hasText: 'shop.yaml:2 ("over-50")' }).getByText('applies', { exact: true }).waitFor();
    await anna.getByText('Asked for ben by clerk.').waitFor();
    expect(await axeFaults(anna)).toEqual([]);
    await anna.getByRole('button', { name: 'Edit…' }).click();
    await anna.getByLabel('eur').fill('6000');
    await anna.getByText('denies it (rule never): nobody pays that').waitFor();
    await anna.getByText('Policy denies the edited arguments: nobody pays that.').waitFor();
    expect(await approve(anna).getAttribute('aria-disabled')).toBe('true');
    await anna.getByLabel('eur').fill('0');
    await anna.getByText('The tool does not take these arguments: eur: must be >= 1').waitFor();
    expect(await approve(anna).getAttribute('aria-disabled')).toBe('true');
    await anna.getByLabel('eur').fill('60');
    await anna.getByText('Your approval is enough').waitFor();
    await approve(anna).and(anna.locator('[aria-disabled="false"]')).click();
    await anna.getByText('refund has run').waitFor();
    expect(runs).toEqual([{ name: 'refund', args: { order: 7, eur: 60 } }]);
  });

  test('an operator tries other arguments on a call that is over: what policy would say, rule by rule; nothing is stored', async () => {
    const {
      page: url,
      ask,
      edit,
      runs,
    } = await shop({
      operator: ({ id }) => (id === 'ben' ? { content: true } : undefined),
    });
    await edit('anna', await ask('ben', 'order-7', 'refund', { order: 7, eur: 80 }), { order: 7, eur: 60 });
    const ben = await open(url, 'ben');
    await ben.goto(`${url}#/sessions/clerk/ben/order-7`);
    await ben.getByText('✓ completed').waitFor();
    const talk = ben.getByRole('region', { name: 'Conversation' });
    await talk.locator('.call > summary').click();
    await ben.getByText('Why? What policy says').click();
    await rules(ben).getByText('args /eur: 60 is below minimum 5000').waitFor();
    await ben.getByRole('button', { name: 'Try other arguments' }).click();
    await ben.getByLabel('Arguments to try, as JSON').fill('{"order": 7, "eur": 6000');
    await ben.getByText('Arguments are a JSON object').waitFor();
    await ben.getByLabel('Arguments to try, as JSON').fill('{"order": 7, "eur": 6000}');
    await ben.getByText('Policy on these arguments: denies it (rule never)').waitFor();
    await rules(ben).last().getByText('applies', { exact: true }).waitFor();
    expect(await axeFaults(ben)).toEqual([]);
    expect(runs).toEqual([{ name: 'refund', args: { order: 7, eur: 60 } }]);
  });

  test('who asked gets the decision in words, and no rules', async () => {
    const { page: url, ask } = await shop();
    await ask('ben', 'order-7', 'refund', { order: 7, eur: 80 });
    const ben = await open(url, 'ben');
    await ben.goto(`${url}#/sessions/clerk/ben/order-7`);
    await ben.getByRole('region', { name: 'Conversation' }).locator('summary').click();
    await ben.getByText('Why? What policy says').click();
    await ben.getByText('asks a person (rule over-50): over 50 needs a supervisor').waitFor();
    await ben.getByText('Its rules are shown to people who may answer the question.').waitFor();
    expect(await rules(ben).count()).toBe(0);
  });
});
