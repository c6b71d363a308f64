import { appendFileSync, chmodSync, cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { play } from '../../scripts/demonstration/play.ts';
import { executablePath, noBrowser, sharedBrowser } from '../chromium-of-run.ts';
import { cli, Place } from '../cli/coxswain.ts';

const demonstration = join(import.meta.dirname, '../../scripts/demonstration');

describe.skipIf(executablePath === undefined || process.platform === 'win32')(
  `the inspector of the command line in Chromium${noBrowser}`,
  () => {
    // Each starts several processes.
    vi.setConfig({ testTimeout: 90_000 });
    let browser: Browser;
    beforeAll(async () => {
      browser = await sharedBrowser();
    });
    afterAll(() => browser?.close());

    test('serve --ui: who asked may not approve, a killed server is started again, a supervisor edits and approves, it runs once, and the audit verifies; an agent of another program passes the same gate', async () => {
      const { refusal, refunds, audit, payway, faults } = await play({ cli: [cli], browser });
      expect(refusal).toBe('E_NOT_APPROVER');
      expect(refunds).toEqual(['1007 60.00']);
      expect(audit).toMatchObject({ code: 0, output: expect.stringMatching(/^ok: \d+ audited events/) });
      // Of the two refunds that it wants, a rule denies the first.
      expect(payway).toMatchObject({ refusal: 'E_NOT_APPROVER', refunds: ['1008 45.00'] });
      expect(payway.audit).toMatchObject({ code: 0, output: expect.stringMatching(/^ok: \d+ audited events/) });
      expect(faults).toEqual([]);
    });

    test('dev opens the page signed in, and is where it was after a change of the agent', async () => {
      using place = new Place();
      for (const name of ['agent.ts', 'policy.yaml']) cpSync(join(demonstration, name), join(place.path, name));
      // In place of the browser of a desktop: keeps what it is to open.
      const opener = join(place.path, 'open.sh');
      writeFileSync(opener, '#!/bin/sh\ncp "$(echo "$1" | cut -c8-)" opening.html && mv opening.html opened.html\n');
      chmodSync(opener, 0o700);
      const flags = ['--port', '0', '--store', 'memory:', '--policy', 'policy.yaml'];
      const running = place.start(['dev', 'agent.ts', ...flags], { env: { BROWSER: opener } });
      try {
        await running.shows('The inspector is opened in your browser', 'stderr');
        await expect.poll(() => existsSync(join(place.path, 'opened.html'))).toBe(true);
        const opened = readFileSync(join(place.path, 'opened.html'), 'utf8');
        const page = await (await browser.newContext()).newPage();
        page.setDefaultTimeout(20_000);
        await page.goto(/url=([^"]+)"/.exec(opened)?.[1] ?? '');
        await page.getByText('Nothing waits for you.').waitFor();
        expect(page.url()).not.toContain('code=');
        appendFileSync(join(place.path, 'agent.ts'), '\n');
        await page.getByText('not connected: trying again').waitFor();
        await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
        // A policy is no module, and is watched as well: one that cannot be read, and one that can.
        const policy = join(place.path, 'policy.yaml');
        const rules = readFileSync(policy, 'utf8');
        writeFileSync(policy, 'version: none');
        await page.getByText('not connected: trying again').waitFor();
        // The server that is started for it has read it: one that reads the next one already is started once more.
        await running.shows('E_POLICY_FILE', 'stderr');
        writeFileSync(policy, rules.replace('version: 1', 'version: 1 # changed'));
        await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
        await page.context().close();
        const addresses = running.stdout.split('\n').filter((line) => line.includes('"listening"'));
        expect(addresses).toHaveLength(3);
        expect(new Set(addresses.map((line) => (JSON.parse(line) as { ui: string }).ui)).size).toBe(1);
      } finally {
        running.child.kill('SIGTERM');
        await running.ended;
      }
    });
  },
);
