import { existsSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { chromium } from 'playwright-core';

/** The browser of this machine; undefined: there is none. */
export const executablePath = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
].find((path) => path !== undefined && existsSync(path));

/** For the title of what is skipped without one. */
export const noBrowser = executablePath === undefined ? ' (skipped: no chromium here; install it or set CHROMIUM)' : '';

/** Where the run says what its files share. */
export const SHARED = 'COXSWAIN_TEST_CHROMIUM';

/** What files of a run share: the address of a Chromium, the folder of the inspector's page. */
export interface Shared {
  browser: string;
  page: string;
}

async function shared(what: keyof Shared): Promise<string> {
  const answer = await fetch(`${process.env[SHARED]}/${what}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`the run has no ${what}: ${text}`);
  return text;
}

/** The Chromium of the run; what this file opens in it is closed with the connection. */
export const sharedBrowser = async (): Promise<Browser> => chromium.connect(await shared('browser'));

/** Folder of the inspector's page, as it is built. */
export const builtPage = (): Promise<string> => shared('page');
