import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('importing policies, and making one without schemas, loads neither YAML nor a validator', () => {
  const policies = join(import.meta.dirname, '../../../src/host/policy/index.ts');
  const script = `const seen = [];
    const { registerHooks } = await import('node:module');
    registerHooks({ resolve(s, c, n) { seen.push(s); return n(s, c); } });
    const { rulePolicy } = await import(${JSON.stringify(policies)});
    rulePolicy([{ tool: '*', args: { '/a': 'x' }, outcome: 'deny' }]).evaluate({ action: 'x' });
    console.log(JSON.stringify(seen.filter((s) => /^(zod|ajv|yaml)/.test(s))));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(output.trim()).toBe('[]');
});
