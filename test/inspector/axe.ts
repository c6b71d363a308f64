import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Faults that hinder somebody: serious and critical ones. */
export async function axeFaults(page: Page): Promise<string[]> {
  // By the browser's own hand: the page's policy lets no script in.
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: axe });
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run().then(({ violations }) => JSON.stringify(violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target).join(' '))))`,
    awaitPromise: true,
  });
  return JSON.parse(String(result.value)) as string[];
}
