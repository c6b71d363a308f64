import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { axeFaults } from './axe.ts';
import { executablePath, noBrowser, shop, withBrowser } from './kit.ts';

const operator = ({ id }: { id: string }) =>
  id === 'eve' ? {} : id === 'bert' ? { users: ['ben'], content: true } : undefined;
const rows = (page: Page) => page.locator('tbody tr');

describe.skipIf(executablePath === undefined)(`operators in Chromium${noBrowser}`, () => {
  const { open } = withBrowser();

  test('an operator finds sessions of others by user, state and words, and sees what happened, without what was said', async () => {
    const { page: url, ask, say } = await shop({ operator });
    await say('ben', 'greeting', 'Hello, this is a secret.');
    await ask('ben', 'order-7', 'refund', { order: 7, eur: 80 });
    await say('anna', 'annas', 'Hello.');
    const eve = await open(url, 'eve');
    await eve.getByRole('link', { name: 'Sessions' }).click();
    await eve.getByText('You have no sessions yet.').waitFor();
    await eve.getByLabel('Whose').selectOption('all');
    await expect.poll(() => rows(eve).count()).toBe(3);
    await eve.getByLabel('User').fill('ben');
    await expect.poll(() => rows(eve).count()).toBe(2);
    await eve.getByLabel('State').selectOption('waits');
    await expect.poll(() => rows(eve).count()).toBe(1);
    expect(await axeFaults(eve)).toEqual([]);
    await rows(eve).filter({ hasText: 'order-7' }).getByRole('link').click();
    await eve.getByText('you look at it as an operator').waitFor();
    const talk = eve.getByRole('region', { name: 'Conversation' });
    await talk.locator('summary').getByText('refund').waitFor();
    await talk.getByText('[redacted]').first().waitFor();
    expect(await eve.getByRole('textbox').count()).toBe(0);
    expect(await talk.getByText('eur').count()).toBe(0);
    // What happens next comes by itself.
    const anna = await open(url, 'anna');
    await anna.getByRole('link').filter({ hasText: 'refund' }).first().click();
    await anna.getByRole('button', { name: /^Approve/ }).click();
    await anna.getByText('refund has run').waitFor();
    await talk.getByText('done · over-50').waitFor();
    await eve.getByRole('region', { name: 'Time of each turn' }).getByText('refund: anna').waitFor();
    expect(await axeFaults(eve)).toEqual([]);
  });

  test('an operator of one user with content reads along, and finds nothing of others; who is none is offered nothing', async () => {
    const { page: url, say } = await shop({ operator });
    await say('ben', 'greeting', 'Hello, this is a secret.');
    await say('anna', 'annas', 'Hello.');
    const bert = await open(url, 'bert');
    await bert.getByRole('link', { name: 'Sessions' }).click();
    await bert.getByLabel('Whose').selectOption('all');
    await expect.poll(() => rows(bert).count()).toBe(1);
    await bert.getByRole('link', { name: 'greeting' }).click();
    await bert.getByText('Hello, this is a secret.').first().waitFor();
    await bert.goto(`${url}#/sessions/clerk/anna/annas`);
    await bert.getByRole('alert').getByText('there is no session "annas"').waitFor();
    const anna = await open(url, 'anna');
    await anna.getByRole('link', { name: 'Sessions' }).click();
    await anna.getByRole('link', { name: 'annas' }).waitFor();
    expect(await anna.getByLabel('Whose').count()).toBe(0);
    await anna.goto(`${url}#/sessions/clerk/ben/greeting`);
    await anna.getByText("This session is somebody else's.").waitFor();
  });
});
