import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { start } from '../../examples/chat/main.ts';
import { application, executablePath, open, why } from '../chromium.ts';

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

describe.skipIf(executablePath === undefined)(`useChat in Chromium${why}`, () => {
  test('HTTP-24 HTTP-26 text, a tool, an approval, a reload at the question, a second tab, a server that was restarted', async () => {
    const { url, restart } = await application(start);
    const faults: string[] = [];
    const page = await open(url, faults);
    await say(page, 'pay order 7 back');
    await page.getByText('order 7: 30 EUR', { exact: true }).waitFor();
    await page.getByText('Pays 30 EUR back for order 7.').waitFor();
    // The same question after a reload, after a restart, and in a second tab.
    await page.reload();
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await restart();
    await page.reload();
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    const second = await page.context().newPage();
    await second.goto(url);
    await second.getByRole('button', { name: 'Approve' }).click();
    await second.getByText('30 EUR are paid back for order 7', { exact: true }).waitFor();
    await second.getByText('It is done.').waitFor();
    // Answered meanwhile: an answer from the first tab changes nothing.
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    await page.reload();
    await page.getByText('It is done.').waitFor();
    expect(await page.getByText('30 EUR are paid back for order 7', { exact: true }).count()).toBe(1);
    expect(faults).toEqual([]);
  });

  test('HTTP-24 HTTP-27 a denial is shown, and a person who may not answer is shown that it waits', async () => {
    const { url } = await application(start);
    const faults: string[] = [];
    const page = await open(url, faults);
    await say(page, 'pay order 7 back');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('Denied.').waitFor();
    await page.getByText('Then I leave it as it is.').waitFor();
    await say(page, 'pay order 8 back');
    await page.getByText('Waits for a supervisor.').waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    await page.reload();
    await page.getByText('Waits for a supervisor.').waitFor();
    const decided = await page.evaluate(async () => {
      const asBert = { headers: { 'content-type': 'application/json' } };
      await fetch('/as/bert');
      const { approvals } = (await (await fetch('/agents/v1/approvals')).json()) as {
        approvals: {
          agent: string;
          userId: string;
          request: { requestId: string; sessionId: string; approval: { previewDigest: string } };
        }[];
      };
      const [{ agent, userId, request } = { agent: '', userId: '', request: undefined }] = approvals;
      const answer = { kind: 'approve', previewDigest: request?.approval.previewDigest };
      const body = JSON.stringify({
        agent,
        userId,
        sessionId: request?.sessionId,
        requestId: request?.requestId,
        answer,
      });
      const response = await fetch('/agents/v1/approvals/decide', { method: 'POST', body, ...asBert });
      await fetch('/as/anna');
      return response.status;
    });
    expect(decided).toBe(200);
    // The page that waits sees it by itself.
    await page.getByText('900 EUR are paid back for order 8', { exact: true }).waitFor();
    await page.getByText('It is done.').waitFor();
    expect(faults).toEqual([]);
  });
});
