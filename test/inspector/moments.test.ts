import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { Looks } from './axe.ts';
import { axeFaults, axeFinds } from './axe.ts';
import { executablePath, noBrowser, shop, withBrowser } from './kit.ts';

const conversation = (page: Page) => page.getByRole('region', { name: 'Conversation' });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const remember = (values: object) => JSON.stringify(['remember', values]);

describe.skipIf(executablePath === undefined)(`what a session came to, in Chromium${noBrowser}`, () => {
  const { open } = withBrowser();

  test('its state, with the event of each change, its artifacts, and its agents with who waits for what', async () => {
    const { page: url, say, ask } = await shop();
    await say('ben', 'other', remember({ 'user:colour': 'blue' }));
    await say('ben', 'order-7', remember({ paid: false, note: 'first' }));
    await say('ben', 'order-7', remember({ paid: true, 'user:language': 'de' }));
    await ask('ben', 'order-7', 'refund', { order: 7, eur: 80 });
    let readings = 0;
    const ben = await open(url, 'ben', {}, async (page) => {
      page.on('websocket', (socket) => {
        socket.on('framesent', ({ payload }) => {
          if (String(payload).includes('"session/events"')) readings++;
        });
      });
    });
    await ben.goto(`${url}#/sessions/clerk/ben/order-7`);
    await ben.locator('button:enabled', { hasText: 'Export' }).waitFor();
    const before = readings;
    expect(before).toBeGreaterThan(0);
    await button(ben, 'State').click();
    await ben.getByText('or shared with other sessions: user:colour').waitFor();
    // The log is here already.
    expect(readings).toBe(before);
    const state = ben.getByRole('region', { name: 'State as JSON' });
    await state.getByText('"first"').waitFor();
    await state.getByText('true', { exact: true }).waitFor();
    const changes = ben.getByRole('region', { name: 'Changes of the state' }).getByRole('button');
    expect(await changes.allTextContents()).toHaveLength(4);
    await changes.filter({ hasText: 'false' }).click();
    // The event that changed it.
    await ben.getByText(/^1 of \d+ events$/).waitFor();
    await button(ben, 'Artifacts').click();
    const artifacts = ben.getByRole('list', { name: 'Artifacts' });
    await artifacts.getByText('paid', { exact: true }).waitFor();
    await artifacts.getByRole('button', { name: 'version 1' }).click();
    await ben.getByText(/^1 of \d+ events$/).waitFor();
    await button(ben, 'Agents').click();
    const agents = ben.getByRole('list', { name: 'Agents' });
    await agents.getByText('has the word, and waits for calls').waitFor();
    await agents.getByRole('button', { name: 'refund' }).click();
    await ben.getByText(/^\d of \d+ events$/).waitFor();
  });

  test('an agent that was called as a tool is in the tree with its session, which can be looked at and says nothing to others', async () => {
    const { page: url, say } = await shop({
      operator: ({ id }) => (id === 'eve' ? { content: true } : undefined),
    });
    await say('ben', 'order-7', JSON.stringify(['expert', { request: 'May order 7 be paid back?' }]));
    for (const who of ['ben', 'eve'] as const) {
      const page = await open(url, who);
      await page.goto(`${url}#/sessions/clerk/ben/order-7`);
      await button(page, 'Agents').click();
      const below = page.getByRole('list', { name: 'Sessions of agents that it has called' });
      await below.getByRole('link').click();
      await conversation(page).getByText('May order 7 be paid back?').first().waitFor();
      await conversation(page).getByText('I look it up.').waitFor();
    }
  });

  test('an earlier moment is shown as the session stood then: what was said, what waited, its state; back to now, or on from there', async () => {
    const { page: url, say, ask, edit } = await shop();
    await say('ben', 'order-7', remember({ paid: false }));
    const id = await ask('ben', 'order-7', 'refund', { order: 7, eur: 80 });
    await edit('anna', id, { order: 7, eur: 60 });
    const ben = await open(url, 'ben');
    await ben.goto(`${url}#/sessions/clerk/ben/order-7`);
    await ben.getByText('✓ completed').waitFor();
    await say('ben', 'order-7', remember({ paid: true }));
    const talk = conversation(ben);
    await talk.locator('summary').filter({ hasText: 'paid true' }).waitFor();
    await talk.locator('summary').filter({ hasText: 'refund' }).getByText('done · over-50').waitFor();
    await button(ben, 'Events').click();
    await ben.getByRole('searchbox', { name: /Search events/ }).fill('refund');
    await ben.getByRole('button', { name: /tool_request/ }).click();
    await button(ben, 'Show the session as it stood here').click();
    const moment = ben.getByRole('region', { name: 'An earlier moment' });
    await moment.getByText(/As it stood after event \d+ of \d+/).waitFor();
    await talk.locator('summary').filter({ hasText: 'refund' }).getByText('waits').waitFor();
    await ben.getByText('? waits for an answer').waitFor();
    expect(await ben.getByRole('textbox', { name: 'Message' }).count()).toBe(0);
    await button(ben, 'State').click();
    const state = ben.getByRole('region', { name: 'State as JSON' });
    await state.getByText('false').waitFor();
    expect(await axeFaults(ben)).toEqual([]);
    // By keyboard, to the first event.
    const slider = moment.getByRole('slider', { name: 'Which event was the newest' });
    await slider.press('Home');
    await moment.getByText(/As it stood after event 1 of/).waitFor();
    await ben.getByText('Nothing is in its state.').waitFor();
    await moment.getByRole('button', { name: 'One later' }).click();
    await moment.getByText(/As it stood after event 2 of/).waitFor();
    await moment.getByRole('button', { name: 'Back to now' }).click();
    await state.getByText('true', { exact: true }).waitFor();
    await ben.getByRole('textbox', { name: 'Message' }).waitFor();
    await button(ben, 'Earlier moments').click();
    await slider.press('Home');
    await slider.press('ArrowRight');
    await slider.press('ArrowRight');
    await moment.getByText(/As it stood after event 3 of/).waitFor();
    await moment.getByRole('button', { name: 'New session from here' }).click();
    await expect.poll(() => ben.url()).not.toContain('/ben/order-7');
    await talk.locator('summary').filter({ hasText: 'remember' }).waitFor();
    expect(await talk.locator('summary').filter({ hasText: 'refund' }).count()).toBe(0);
  });

  test('a session is rewound to before a message: what followed counts no longer, its state is as it was, and a turn can be begun anew', async () => {
    const { page: url, say } = await shop();
    await say('ben', 'order-7', remember({ paid: false }));
    await say('ben', 'order-7', remember({ paid: true }));
    const ben = await open(url, 'ben');
    await ben.goto(`${url}#/sessions/clerk/ben/order-7`);
    const talk = conversation(ben);
    await talk.locator('summary').filter({ hasText: 'paid true' }).waitFor();
    await button(ben, 'Events').click();
    await ben.getByRole('button', { name: /message.*paid":true/ }).click();
    await button(ben, 'Rewind to before it…').click();
    expect(await axeFaults(ben)).toEqual([]);
    await ben.getByRole('dialog').getByRole('button', { name: 'Rewind', exact: true }).click();
    await talk.locator('summary').filter({ hasText: 'paid true' }).waitFor({ state: 'detached' });
    await talk.locator('summary').filter({ hasText: 'paid false' }).waitFor();
    await button(ben, 'State').click();
    await ben.getByText('was undone by a rewind').waitFor();
    await ben.getByRole('region', { name: 'State as JSON' }).getByText('false').waitFor();
    await ben.getByRole('textbox', { name: 'Message' }).fill('Hello again.');
    await button(ben, 'Send').click();
    await talk.getByText('Hello again.').waitFor();
  });

  test('what a person may see of a session is saved as a file, one event a line', async () => {
    const { page: url, say } = await shop({ operator: ({ id }) => (id === 'eve' ? {} : undefined) });
    await say('ben', 'order-7', 'Hello, this is a secret.');
    const saved = async (who: 'ben' | 'eve') => {
      const page = await open(url, who);
      await page.goto(`${url}#/sessions/clerk/ben/order-7`);
      await page.getByText('✓ completed').waitFor();
      const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Export').click()]);
      expect(download.suggestedFilename()).toBe('order-7.jsonl');
      const lines = (await text(await download.createReadStream())).trimEnd().split('\n');
      expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toContain('stream_end');
      return lines.join('\n');
    };
    expect(await saved('ben')).toContain('Hello, this is a secret.');
    expect(await saved('eve')).not.toContain('secret');
  });

  test('hostile keys, values and names are text; long ones put few lines on the page', async () => {
    const { page: url, say } = await shop();
    const markup = '<img src=x onerror="document.title=\'owned\'">\u202E\u200B';
    const deep = Array.from({ length: 500 }).reduce<unknown>((inner) => ({ inner }), markup);
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`key ${index}`, markup]));
    await say('ben', 'hostile', remember({ [markup]: markup, deep, long: 'y'.repeat(1_000_000), ...many }));
    const ben = await open(url, 'ben');
    await ben.goto(`${url}#/sessions/clerk/ben/hostile`);
    await button(ben, 'State').click();
    await ben.getByText('10,003').or(ben.getByText('Changes')).first().waitFor();
    for (const name of ['State', 'Artifacts', 'Agents', 'Events']) {
      await button(ben, name).click();
      expect(await ben.locator('main :is(script, iframe, object, img, a[href^="javascript"])').count()).toBe(0);
      expect(await ben.locator('[onerror], [onload]').count()).toBe(0);
      expect(await ben.locator('.line').count()).toBeLessThan(400);
    }
    await button(ben, 'Artifacts').click();
    await ben.getByText('U+202E').first().waitFor();
    expect(await ben.title()).toBe('Coxswain');
  });

  test('axe finds nothing serious: light at 1280 px, dark at 360 px; nothing is wider than the screen', async () => {
    const { page: url, say, ask } = await shop();
    await say('ben', 'order-7', remember({ paid: false, address: { city: 'Kiel', street: 'x'.repeat(200) } }));
    await say('ben', 'order-7', JSON.stringify(['expert', { request: 'May it be paid back?' }]));
    await ask('ben', 'order-7', 'refund', { order: 7, eur: 80 });
    const ben = await open(url, 'ben', { viewport: { width: 1280, height: 740 }, reducedMotion: 'reduce' });
    await ben.goto(`${url}#/sessions/clerk/ben/order-7`);
    await button(ben, 'Earlier moments').click();
    for (const name of ['State', 'Agents', 'Artifacts']) {
      await button(ben, name).click();
      const shown =
        name === 'State'
          ? ben.getByRole('region', { name: 'State as JSON' })
          : ben.getByRole('list', { name, exact: true });
      await shown.waitFor();
      await axeFinds(ben, looks);
    }
  });
});

const looks: Looks = [
  ['light', 1280],
  ['dark', 360],
];
