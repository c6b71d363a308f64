import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const spec = readFileSync(join(import.meta.dirname, '../../spec/PROTOCOL.md'), 'utf8');
const titles = readdirSync(import.meta.dirname, { recursive: true })
  .map(String)
  .filter((file) => file.endsWith('.test.ts') && file !== 'requirements.test.ts')
  .flatMap((file) => [...readFileSync(join(import.meta.dirname, file), 'utf8').matchAll(/WS-\d+/g)].map(String));
const required = [...spec.matchAll(/^- \*\*(WS-\d+)\*\*/gm)].map(([, id]) => id ?? '');

describe('spec/PROTOCOL.md', () => {
  test('numbers each requirement once', () => {
    expect(required.length).toBeGreaterThan(30);
    expect(new Set(required).size).toBe(required.length);
  });

  test('each requirement is cited by a test', () => {
    expect(required.filter((id) => !titles.includes(id))).toEqual([]);
  });

  test('no test cites a requirement that is not there', () => {
    expect([...new Set(titles)].filter((id) => !required.includes(id))).toEqual([]);
  });
});
