import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { AuditVerdict } from '../../src/contracts/protocol.ts';
import type { Looks } from './axe.ts';
import { axeFinds } from './axe.ts';
import { executablePath, noBrowser, shop, withBrowser } from './kit.ts';

const conversation = (page: Page) => page.getByRole('region', { name: 'Conversation' });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

describe.skipIf(executablePath === undefined)(`one session in Chromium${noBrowser}`, () => {
  const { open } = withBrowser();

  test('a session is begun, stopped where it waits, and gets another message, by keyboard too', async () => {
    const { page: url, runs } = await shop();
    const ben = await open(url, 'ben');
    await ben.getByRole('link', { name: 'Sessions' }).click();
    await ben.getByRole('button', { name: 'New session' }).click();
    await ben.getByRole('textbox', { name: 'Message' }).fill('["refund", {"order": 9, "eur": 70}]');
    await button(ben, 'Begin').click();
    const talk = conversation(ben);
    await talk.locator('summary').getByText('order 9 · eur 70').waitFor();
    await ben.getByText('A new message cancels what waits.').waitFor();
    await button(ben, 'Stop the turn').click();
    await ben.getByText('The turn was ended.').waitFor();
    await ben.getByText('✕ aborted').waitFor();
    await ben.getByRole('textbox', { name: 'Message' }).fill('Hello again.');
    await ben.keyboard.press('Control+Enter');
    await talk.getByText('Hello again.').waitFor();
    await ben.getByText('✓ completed').waitFor();
    await expect.poll(() => ben.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('');
    await ben.getByRole('textbox', { name: 'Message' }).fill('["quick", {}, 1001]');
    await button(ben, 'Send').click();
    await talk.getByText(/^E_ANSWER_LIMIT: /).waitFor();
    expect(runs).toEqual([]);
  });

  test('ATK3-01 whoever acts for somebody sees the sessions that are theirs together, and not those of either alone', async () => {
    const { page: url, ask } = await shop();
    await ask('ben', 'order-8', 'refund', { order: 8, eur: 80 });
    const page = await open(url, 'gateway');
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.getByRole('button', { name: 'New session' }).click();
    await page.getByRole('textbox', { name: 'Message' }).fill('Hello.');
    await button(page, 'Begin').click();
    await conversation(page).getByText('Hello.').waitFor();
    await page.getByText('✓ completed').waitFor();
    expect(page.url()).toContain('/gateway~1ben/');
    for (const owner of ['ben', 'gateway']) {
      await page.goto(`${url}#/sessions/clerk/${owner}/order-8`);
      await page.getByText('This session is somebody else').waitFor();
    }
  });

  test('the owner changes the mode of a session, as far as the server lets them; it holds after a reload', async () => {
    const { page: url, say, runs } = await shop();
    await say('ben', 'careful', 'Hello.');
    const ben = await open(url, 'ben');
    await ben.goto(`${url}#/sessions/clerk/ben/careful`);
    const mode = ben.getByRole('combobox', { name: 'Mode' });
    await mode.selectOption('plan');
    await expect.poll(() => mode.inputValue()).toBe('plan');
    await ben.getByRole('textbox', { name: 'Message' }).fill('["quick", {}]');
    await button(ben, 'Send').click();
    await conversation(ben).getByText('Then I leave it.').waitFor();
    expect(runs).toEqual([]);
    await mode.selectOption('autonomous');
    await ben.getByRole('alert').waitFor();
    await expect.poll(() => mode.inputValue()).toBe('plan');
    await ben.reload();
    await expect.poll(() => mode.inputValue()).toBe('plan');
    await mode.selectOption('');
    await expect.poll(() => mode.inputValue()).toBe('');
    await ben.getByRole('textbox', { name: 'Message' }).fill('["quick", {}]');
    await button(ben, 'Send').click();
    await conversation(ben).getByText('It is done.').waitFor();
    expect(runs).toHaveLength(1);
  });

  test('a turn that runs is steered, and continues when its page is left', async () => {
    const { page: url, gate, runs } = await shop();
    const ben = await open(url, 'ben');
    await ben.getByRole('link', { name: 'Sessions' }).click();
    await ben.getByRole('button', { name: 'New session' }).click();
    await ben.getByRole('textbox', { name: 'Message' }).fill('["slow", {}]');
    await button(ben, 'Begin').click();
    await ben.getByRole('textbox', { name: 'Words for the turn that runs' }).fill('Be quick.');
    await button(ben, 'Steer').click();
    await ben.getByText('The agent reads it at its next step.').waitFor();
    const address = ben.url();
    await ben.getByRole('link', { name: 'Inbox' }).click();
    await ben.getByText('Nothing waits for you.').waitFor();
    gate.open();
    await ben.goto(address);
    await ben.getByText('✓ completed').waitFor();
    await conversation(ben).getByText('Be quick.').first().waitFor();
    expect(runs).toEqual([{ name: 'slow', args: {} }]);
  });

  test('a new session is begun from a place in the log, with what came before it; the session stays as it is', async () => {
    const { page: url, say } = await shop();
    await say('ben', 'first', 'One.');
    await say('ben', 'first', 'Two.');
    const ben = await open(url, 'ben');
    await ben.goto(`${url}#/sessions/clerk/ben/first`);
    await button(ben, 'Events').click();
    await ben
      .getByRole('button', { name: /stream_end/ })
      .first()
      .click();
    await button(ben, 'New session from here').click();
    await expect.poll(() => ben.url()).not.toContain('/ben/first');
    const talk = conversation(ben);
    await talk.getByText('One.', { exact: true }).waitFor();
    await ben.getByRole('textbox', { name: 'Message' }).fill('Other.');
    await button(ben, 'Send').click();
    await talk.getByText('Other.', { exact: true }).waitFor();
    expect(await talk.getByText('Two.', { exact: true }).count()).toBe(0);
    await ben.goto(`${url}#/sessions/clerk/ben/first`);
    await talk.getByText('Two.', { exact: true }).waitFor();
    expect(await talk.getByText('Other.', { exact: true }).count()).toBe(0);
  });

  test('the log is verified where the server can: as written, or the place that is not', async () => {
    const verdicts: AuditVerdict[] = [
      { ok: true, audited: 9, linked: 9, head: { seq: 9, hash: 'abc' }, faults: [] },
      { ok: false, audited: 9, linked: 9, faults: [{ seq: 4, fault: 'changed', message: 'event 4 is not as it was' }] },
    ];
    const asked: object[] = [];
    const { page: url, say } = await shop({
      verify: async (place) => {
        asked.push(place);
        return verdicts.shift() ?? Promise.reject(new Error('asked too often'));
      },
    });
    await say('ben', 'greeting', 'Hello.');
    const ben = await open(url, 'ben');
    await ben.goto(`${url}#/sessions/clerk/ben/greeting`);
    await button(ben, 'Verify the log').click();
    await ben.getByText('✓ as written: 9 audited events, 9 linked').waitFor();
    await button(ben, 'Verify the log').click();
    await ben.getByText('✕ not as written: event 4 is not as it was').waitFor();
    expect(asked).toEqual([
      { userId: 'ben', sessionId: 'greeting' },
      { userId: 'ben', sessionId: 'greeting' },
    ]);
  });

  test('the timeline has each step, its time and its tokens, and for whom was waited', async () => {
    const { page: url, ask } = await shop();
    await ask('ben', 'order-7', 'refund', { order: 7, eur: 80 });
    const ben = await open(url, 'ben');
    await ben.goto(`${url}#/sessions/clerk/ben/order-7`);
    const time = ben.getByRole('region', { name: 'Time of each turn' });
    await time.getByText(/Turn 1/).waitFor();
    await time.getByText(/not over · model .* · tools/).waitFor();
    expect(await time.locator('.span-row').allTextContents()).toEqual([
      expect.stringMatching(/^model scripted.*120 in · 12 out$/),
      expect.stringMatching(/^waits refund.*…$/),
    ]);
    const anna = await open(url, 'anna');
    await anna.getByRole('link').filter({ hasText: 'refund' }).first().click();
    await anna.getByRole('button', { name: /^Approve/ }).click();
    await time
      .getByText(/Turn 1completed/)
      .or(time.getByText(/completed · model .* · waited/))
      .waitFor();
    expect((await time.locator('.span-row').allTextContents()).map((row) => row.replace(/[\d.]+ m?s.*/, ''))).toEqual([
      'model scripted',
      'waits refund: anna',
      'tool refund',
      'model scripted',
    ]);
  });

  test('events are found by type and by the call that they are about; a long log puts few lines on the page', async () => {
    const { page: url, calls } = await shop();
    await calls('ben', 'long', 900);
    const ben = await open(url, 'ben');
    await ben.goto(`${url}#/sessions/clerk/ben/long`);
    await button(ben, 'Events').click();
    await ben.getByText(/^\d,\d{3} events$/).waitFor();
    const box = ben.getByRole('region', { name: 'Stored events' });
    await box.press('End');
    await box.getByText('stream_end').waitFor();
    expect(await ben.locator('.line').count()).toBeLessThan(150);
    expect(await conversation(ben).locator('li').count()).toBeLessThanOrEqual(100);
    await ben.getByRole('searchbox', { name: /Search events/ }).fill('stream_end');
    await ben.getByText(/^1 of \d,\d{3} events$/).waitFor();
    const call = conversation(ben).locator('details').last();
    await call.locator('summary').click();
    await button(ben, 'Events of this call').click();
    await ben.getByText(/^4 of \d,\d{3} events$/).waitFor();
    await box.getByText('tool_response').click();
    await ben.getByRole('region', { name: 'The event as JSON' }).getByText('"quick has run"').waitFor();
  });

  test('a long session shows its end, and takes a message, while what was before is being read', async () => {
    const { page: url, calls, say } = await shop();
    await say('ben', 'long', 'The first words.');
    await calls('ben', 'long', 400);
    await say('ben', 'long', 'The last words.');
    const held: (() => void)[] = [];
    let isHeld = true;
    const ben = await open(url, 'ben', {}, async (page) => {
      await page.routeWebSocket(/\/v1$/, (socket) => {
        const server = socket.connectToServer();
        socket.onMessage((message) => {
          const isOfAll = /"session\/events"/.test(String(message)) && !/"newest"/.test(String(message));
          if (isHeld && isOfAll) held.push(() => server.send(message));
          else server.send(message);
        });
      });
    });
    await ben.goto(`${url}#/sessions/clerk/ben/long`);
    const talk = conversation(ben);
    await talk.getByText('The last words.').waitFor();
    await talk.getByText('Earlier messages and calls are being read…').waitFor();
    await ben.getByText(/^The session is long: /).waitFor();
    await ben.getByText('✓ completed').waitFor();
    expect(await button(ben, 'Export').isDisabled()).toBe(true);
    expect(await talk.getByText('The first words.').count()).toBe(0);
    await ben.getByRole('textbox', { name: 'Message' }).fill('Words meanwhile.');
    await button(ben, 'Send').click();
    await talk.getByText('Words meanwhile.').waitFor();
    await expect.poll(() => talk.getByText('I look it up.').count()).toBeGreaterThan(1);
    await ben.getByText('✓ completed').waitFor();
    isHeld = false;
    for (const send of held) send();
    await ben.locator('button:enabled', { hasText: 'Export' }).waitFor();
    expect(await talk.getByText('Words meanwhile.').count()).toBe(1);
    expect(await talk.getByText('The last words.').count()).toBe(1);
    const time = ben.getByRole('region', { name: 'Time of each turn' });
    await time.press('End');
    await time.getByText('Turn 4').waitFor();
    for (let more = 0; more < 4; more++) await talk.getByRole('button', { name: /earlier$/ }).click();
    await talk.getByText('The first words.').waitFor();
  });

  test('hostile words in messages, arguments and results are text', async () => {
    const { page: url, ask, say } = await shop();
    const markup = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>';
    await say('ben', 'hostile', `${markup}\u202E${'y'.repeat(1_000_000)}`);
    await ask('ben', 'hostile', 'anything', {
      [markup]: markup,
      many: Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`member ${index}`, index])),
    });
    const ben = await open(url, 'ben');
    await ben.goto(`${url}#/sessions/clerk/ben/hostile`);
    const talk = conversation(ben);
    await talk.getByText('U+202E').first().waitFor();
    await talk.locator('summary').last().click();
    await talk.getByText('"member 3"').first().waitFor();
    await button(ben, 'Events').click();
    await ben.getByRole('button', { name: /tool_request/ }).click();
    await ben.getByRole('region', { name: 'The event as JSON' }).getByText('"anything"').waitFor();
    expect(await ben.locator('main :is(script, iframe, object, img, a[href^="javascript"])').count()).toBe(0);
    expect(await ben.locator('[onerror], [onload]').count()).toBe(0);
    expect(await ben.title()).toBe('Coxswain');
    expect(await ben.locator('.line').count()).toBeLessThan(400);
  });

  test('axe finds nothing serious: light at 1280 px, dark at 360 px; nothing is wider than the screen', async () => {
    const { page: url, ask } = await shop();
    await ask('ben', 'order-7', 'refund', { order: 7, eur: 80 });
    const ben = await open(url, 'ben', { viewport: { width: 1280, height: 740 }, reducedMotion: 'reduce' });
    await ben.goto(`${url}#/sessions`);
    await ben.getByRole('button', { name: 'New session' }).click();
    await axeFinds(ben, looks);
    await ben.goto(`${url}#/sessions/clerk/ben/order-7`);
    await conversation(ben).locator('summary').click();
    for (const name of ['Timeline', 'Events']) {
      await button(ben, name).click();
      await axeFinds(ben, looks);
    }
  });
});

const looks: Looks = [
  ['light', 1280],
  ['dark', 360],
];
