import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const spec = readFileSync(join(import.meta.dirname, '../../spec/PROTOCOL.md'), 'utf8');
const cited = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.test.ts') && file !== 'requirements.test.ts')
  .flatMap((file) => [...readFileSync(join(import.meta.dirname, file), 'utf8').matchAll(/HTTP-\d+/g)].map(String));
const required = [...spec.matchAll(/^- \*\*(HTTP-\d+)\*\*/gm)].map(([, id]) => id ?? '');

describe('plain HTTP in spec/PROTOCOL.md', () => {
  test('numbers each requirement once', () => {
    expect(required.length).toBeGreaterThan(20);
    expect(new Set(required).size).toBe(required.length);
  });

  test('each requirement is cited by a test, and no test cites another', () => {
    expect(required.filter((id) => !cited.includes(id))).toEqual([]);
    expect([...new Set(cited)].filter((id) => !required.includes(id))).toEqual([]);
  });
});
