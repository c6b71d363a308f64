import { describe, expect, test } from 'vitest';
import { builtPage } from '../chromium-of-run.ts';
import { axeFaults } from './axe.ts';
import { executablePath, noBrowser, shop, withBrowser } from './kit.ts';

describe.skipIf(executablePath === undefined)(`sessions in Chromium${noBrowser}`, () => {
  const { open } = withBrowser();

  test('a session shows the conversation, each call with its decision, and its stored events as they come', async () => {
    const { page: url, ask, say } = await shop();
    await say('ben', 'greeting', 'Hello.');
    await ask('ben', 'order-7', 'refund', { order: 7, eur: 80 });
    const ben = await open(url, 'ben');
    await ben.getByRole('link', { name: 'Sessions' }).click();
    await ben.getByRole('link', { name: 'greeting' }).waitFor();
    await ben.getByRole('searchbox').fill('order');
    expect(await ben.getByRole('link', { name: 'greeting' }).count()).toBe(0);
    await ben
      .getByRole('row', { name: /order-7.*waits/ })
      .getByRole('link')
      .click();
    await ben.getByText('waits for an answer').waitFor();
    const talk = ben.getByRole('region', { name: 'Conversation' });
    await talk.getByText('I look it up.').waitFor();
    await talk.getByText('refund', { exact: true }).click();
    await talk.getByText('"eur"', { exact: true }).waitFor();
    const anna = await open(url, 'anna');
    await anna.getByRole('link').filter({ hasText: 'refund' }).first().click();
    await anna.getByRole('button', { name: /^Approve/ }).click();
    // The owner's page follows.
    await talk.getByText('It is done.').waitFor();
    await talk.getByText('over-50').first().waitFor();
    await talk.getByText('accept').waitFor();
    await talk.getByText('refund has run').waitFor();
    await ben.getByRole('button', { name: 'Events', exact: true }).click();
    await ben.getByRole('button', { name: /tool_response/ }).click();
    await ben.getByRole('region', { name: 'The event as JSON' }).getByText('"tool_response"').waitFor();
    // Nobody else sees it.
    await anna.goto(ben.url());
    await anna
      .getByText('This session is somebody else’s.')
      .or(anna.getByText("This session is somebody else's."))
      .waitFor();
  });

  test('INS-13 calls, decisions and events have addresses that lead to one another, and to the trace of their turn', async () => {
    const traceUrl = 'https://traces.example/t/{traceId}?span={spanId}';
    const {
      page: url,
      say,
      calls,
    } = await shop({ ui: { files: await builtPage(), key: new Uint8Array(32).fill(3), traceUrl } });
    const traceId = 'ab'.repeat(16);
    const traceContext = { traceparent: `00-${traceId}-${'cd'.repeat(8)}-01` };
    await say('ben', 'traced', JSON.stringify(['pay_card', { eur: 8, card: 'visa 1' }]), { traceContext });
    await calls('ben', 'traced', 120);
    const ben = await open(url, 'ben');
    await ben.goto(`${url}#/sessions/clerk/ben/traced`);
    const talk = ben.getByRole('region', { name: 'Conversation' });
    await talk.getByRole('button', { name: /earlier$/ }).click();
    await talk.locator('summary', { hasText: 'pay_card' }).click();
    await talk.getByRole('link', { name: 'Link to this call' }).click();
    const callUrl = ben.url();
    await talk.getByRole('link', { name: /^Decided: event/ }).click();
    const side = ben.getByRole('region', { name: 'Events' });
    await side.getByRole('region', { name: 'The event as JSON' }).getByText('"policy_decision"').waitFor();
    expect(await side.getByRole('link', { name: traceId }).getAttribute('href')).toBe(
      `https://traces.example/t/${traceId}?span=${'cd'.repeat(8)}`,
    );
    await side.getByRole('link', { name: 'To its call' }).click();
    expect(ben.url()).toBe(callUrl);
    // Of a page that is opened with it, the call is open, however far up it stands.
    await ben.reload();
    await talk.getByRole('link', { name: traceId }).waitFor();
    expect(await talk.locator('details[open] > summary', { hasText: 'pay_card' }).count()).toBe(1);
    expect(await axeFaults(ben)).toEqual([]);
    await ben.goto(`${url}#/sessions/clerk/ben/traced?event=%3Cimg%20src%3Dx%20onerror%3Ddocument.title%3D1%3E`);
    await ben.getByText(/^0 of .* events$/).waitFor();
  });

  test('INS-14 what an artifact has is shown as text or picture and is never run; anything else is saved; an operator is given it where nothing is hidden', async () => {
    const operator = ({ id }: { id: string }) => (id === 'eve' ? { content: true } : undefined);
    const { page: url, say } = await shop({ operator });
    const remember = (args: object) => say('ben', 'kept', JSON.stringify(['remember', args]));
    await remember({ note: '<img src=x onerror=document.title=1>\u202E' });
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    await remember({ dot: '', mimeType: 'image/png', data: png });
    const markup = Buffer.from('<script>document.title = 1</script>').toString('base64');
    await remember({ drawing: '', mimeType: 'image/svg+xml', data: markup });
    await remember({ page: '', mimeType: 'text/html', data: markup });
    const ben = await open(url, 'ben');
    await ben.goto(`${url}#/sessions/clerk/ben/kept`);
    await ben.getByRole('button', { name: 'Artifacts', exact: true }).click();
    const list = ben.getByRole('list', { name: 'Artifacts' });
    const content = async (name: string) => {
      await list
        .getByRole('listitem')
        .filter({ has: ben.getByText(name, { exact: true }) })
        .getByRole('button', { name: 'Show content' })
        .first()
        .click();
      return list.getByRole('region', { name: `Content of ${name}, version 1`, exact: true }).first();
    };
    const note = await content('note');
    await note.getByText('<img src=x onerror=document.title=1>').first().waitFor();
    await note.getByText('U+202E').first().waitFor();
    await (await content('page')).getByText('<script>document.title = 1</script>').first().waitFor();
    await (await content('dot')).locator('img').waitFor();
    const drawing = await content('drawing');
    const saved = ben.waitForEvent('download');
    await drawing.getByRole('button', { name: 'Download' }).click();
    expect((await saved).suggestedFilename()).toBe('drawing');
    expect(await list.locator('script, svg').count()).toBe(0);
    expect(await list.locator('img').count()).toBe(1);
    expect(await axeFaults(ben)).toEqual([]);
    // What is hidden in one call may be in any artifact of the session.
    await say('ben', 'kept', JSON.stringify(['pay_card', { eur: 8, card: 'visa 1' }]));
    const eve = await open(url, 'eve');
    await eve.goto(`${url}#/sessions/clerk/ben/kept`);
    await eve.getByRole('button', { name: 'Artifacts', exact: true }).click();
    await eve.getByRole('button', { name: 'Show content' }).first().click();
    await eve.getByText('policy hides something').waitFor();
  });

  test('INS-12 one line of words finds sessions in the server; it is kept in the address; counters of one that runs move', async () => {
    const { page: url, ask, say, calls, gate } = await shop();
    await say('ben', 'greeting', 'Hello.');
    await ask('ben', 'order-7', 'refund', { order: 7, eur: 80 });
    await calls('ben', 'many', 2);
    const ben = await open(url, 'ben');
    await ben.goto(`${url}#/sessions?q=tool%3Arefund+state%3Awaits`);
    const rows = ben.locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(1);
    await ben.getByRole('row', { name: /order-7.*waits.*\b1\b.*132/ }).waitFor();
    const line = ben.getByRole('searchbox');
    await line.fill('tool:quick after:yesterday many');
    await ben.getByRole('row', { name: /many/ }).waitFor();
    await expect.poll(() => rows.count()).toBe(1);
    await ben.reload();
    await expect.poll(() => rows.count()).toBe(1);
    expect(await line.inputValue()).toBe('tool:quick after:yesterday many');
    await ben.getByLabel('State').selectOption('waits');
    await ben.getByText('No session is found.').waitFor();
    expect(await line.inputValue()).toBe('tool:quick after:yesterday many state:waits');
    for (const words of ['tool:qui', 'before:yesterday', 'tool:"<img src=x onerror=document.title=1>\u202E"']) {
      await line.fill(words);
      await ben.getByText('No session is found.').waitFor();
    }
    await line.fill('after:soon');
    await ben.getByRole('alert').getByText('after:soon is no time').waitFor();
    const done = say('ben', 'running', '["slow", {}]');
    await line.fill('running');
    await ben.getByRole('row', { name: /running.*\b1\b.*132/ }).waitFor();
    gate.open();
    await done;
    await ben.getByRole('row', { name: /running.*rests.*\b2\b.*264/ }).waitFor();
    expect(await axeFaults(ben)).toEqual([]);
  });

  test('INSP-23 a session is begun by keyboard alone; columns sort the list, and the address keeps by which', async () => {
    const { page: url, say } = await shop();
    await say('ben', 'long', 'Hello.');
    await say('ben', 'long', 'Hello again.');
    await say('ben', 'short', JSON.stringify(['expert', { request: 'May it be paid back?' }]));
    const ben = await open(url, 'ben');
    await ben.goto(`${url}#/sessions`);
    const rows = async () =>
      (await ben.locator('tbody a').allInnerTexts()).map((id) => id.replace(/^short\..*/, 'expert'));
    await expect.poll(rows).toEqual(['expert', 'short', 'long']);
    // Sessions of several agents say of which they are.
    await ben
      .getByRole('row')
      .filter({ hasText: 'short.' })
      .getByRole('cell', { name: 'expert', exact: true })
      .waitFor();
    const column = ben.getByRole('columnheader', { name: 'Session' });
    await column.getByRole('button').press('Enter');
    await expect.poll(rows).toEqual(['long', 'short', 'expert']);
    expect(await column.getAttribute('aria-sort')).toBe('ascending');
    await column.getByRole('button').press('Enter');
    await expect.poll(rows).toEqual(['expert', 'short', 'long']);
    expect(new URL(ben.url()).hash).toBe('#/sessions?sort=-session');
    await column.getByRole('button').press('Enter');
    expect(await column.getAttribute('aria-sort')).toBe('none');
    // Of numbers the most come first.
    await ben.getByRole('columnheader', { name: 'Events' }).getByRole('button').click();
    await expect.poll(async () => (await rows()).at(-1)).toBe('expert');
    await ben.reload();
    await expect.poll(async () => (await rows()).at(-1)).toBe('expert');
    expect(await ben.getByRole('columnheader', { name: 'Events' }).getAttribute('aria-sort')).toBe('descending');
    expect(await axeFaults(ben)).toEqual([]);
    const begin = ben.getByRole('button', { name: 'New session…' });
    await begin.press('Enter');
    await ben.getByRole('textbox', { name: 'Message' }).and(ben.locator(':focus')).waitFor();
    await ben.getByRole('button', { name: 'No new session' }).press('Enter');
    await begin.and(ben.locator(':focus')).waitFor();
    await begin.press('Enter');
    await ben.keyboard.type('Good morning.');
    await ben.keyboard.press('Control+Enter');
    await ben.getByRole('region', { name: 'Conversation' }).getByText('Good morning.').waitFor();
  });

  test('INSP-24 a session whose called agent asks waits, also where it is opened later; once that is answered it does not', async () => {
    const { page: url, ask } = await shop();
    await ask('ben', 'order-7', 'expert', { request: JSON.stringify(['refund', { order: 7, eur: 80 }]) });
    const ben = await open(url, 'ben');
    await ben.goto(`${url}#/sessions/clerk/ben/order-7`);
    await ben.getByText('? waits for an answer').waitFor();
    await ben.getByRole('button', { name: 'Cancel and send' }).waitFor();
    const anna = await open(url, 'anna');
    await anna.getByRole('link').filter({ hasText: 'refund' }).first().click();
    await anna.getByRole('button', { name: /^Approve refund/ }).click();
    await ben.getByText('✓ completed').waitFor();
  });

  test('INSP-23 a slash goes to the search of the screen, and is no letter of it', async () => {
    const { page: url, say } = await shop();
    await say('ben', 'one', 'Hello.');
    await say('ben', 'other', 'Hello.');
    const ben = await open(url, 'ben');
    await ben.goto(`${url}#/sessions`);
    await ben.getByRole('link', { name: 'one' }).waitFor();
    await ben.keyboard.press('/');
    await ben.keyboard.type('other');
    await expect.poll(() => ben.locator('tbody tr').count()).toBe(1);
    expect(new URL(ben.url()).hash).toBe('#/sessions?q=other');
    await ben.keyboard.press('/');
    expect(await ben.getByRole('searchbox').inputValue()).toBe('other/');
  });

  test('ATK3-15 a call that waits shows what a yes lets run, where a vote has changed it', async () => {
    const { page: url, ask, edit } = await shop();
    const requestId = await ask('ben', 'order-8', 'write_file', { path: 'notes', text: 'as asked' });
    const ben = await open(url, 'ben');
    await ben.getByRole('link', { name: 'Sessions' }).click();
    const row = ben.getByRole('row', { name: /order-8.*waits/ });
    await row.getByRole('link').click();
    const talk = ben.getByRole('region', { name: 'Conversation' });
    await talk.locator('summary').getByText('as asked').waitFor();
    await edit('bert', requestId, { path: 'notes', text: 'as changed' });
    await talk.locator('summary').getByText('as changed').waitFor();
    // And of a page that is loaded then.
    await ben.reload();
    await talk.locator('summary').getByText('as changed').waitFor();
    await talk.getByText('write_file', { exact: true }).click();
    await talk.getByText('Arguments that an approval lets run').first().waitFor();
    expect(await talk.locator('summary').getByText('as asked').count()).toBe(0);
  });
});
