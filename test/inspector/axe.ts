import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Faults that hinder somebody: serious and critical ones. */
export async function axeFaults(page: Page): Promise<string[]> {
  // By the browser's own hand: the page's policy lets no script in.
  const session = await page.context().newCDPSession(page);
  const { result: there } = await session.send('Runtime.evaluate', { expression: 'typeof axe' });
  if (there.value !== 'object') await session.send('Runtime.evaluate', { expression: axe });
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run({ resultTypes: ['violations'], iframes: false }).then(({ violations }) => JSON.stringify(violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target).join(' '))))`,
    awaitPromise: true,
  });
  await session.detach();
  return JSON.parse(String(result.value)) as string[];
}

export type Looks = readonly (readonly [colorScheme: 'light' | 'dark', width: number])[];

/** One screen in each of these looks: what axe finds in it, and that it is no wider than the window. */
export async function axeFinds(page: Page, looks: Looks): Promise<void> {
  for (const [colorScheme, width] of looks) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 740 });
    expect(await axeFaults(page), `${colorScheme}, ${width} px`).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
  }
  const [first] = looks;
  if (!first) return;
  await page.emulateMedia({ colorScheme: first[0] });
  await page.setViewportSize({ width: first[1], height: 740 });
}
