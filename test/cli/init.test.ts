import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Place } from './coxswain.ts';

function place(): Place {
  const made = new Place();
  onTestFinished(() => made[Symbol.dispose]());
  return made;
}

const files = [
  '.gitignore',
  'README.md',
  'agent.ts',
  'notes.test.ts',
  'offline-model.ts',
  'package.json',
  'policy.yaml',
];

test('init makes a project whose agent runs at once, beside an empty repository too', async () => {
  const here = place();
  mkdirSync(join(here.path, '.git'));
  const { code, stdout, stderr } = await here.run(['init']);
  expect([code, stdout]).toEqual([0, 'npm install\nnpm start\nnpm test\n']);
  expect(stderr).toMatch(/^made an agent in \.: agent\.ts, /);
  expect(readdirSync(here.path).toSorted()).toEqual(['.git', ...files]);
  // Nothing is installed here: the agent gets the command's own copy of the package.
  const ran = await here.run(['run', 'agent.ts', '--policy', 'policy.yaml', '--approve', 'allow', 'Buy oil.']);
  expect([ran.code, readFileSync(join(here.path, 'notes.txt'), 'utf8')]).toEqual([0, 'Buy oil.\n']);
  const denied = await here.run(['run', 'agent.ts', '--policy', 'policy.yaml', '--approve', 'allow', 'Password: 1']);
  expect([denied.code, denied.stderr]).toEqual([3, expect.stringContaining('a note is no place for a password')]);
});

test('init refuses a folder that holds files, and says what --force would replace', async () => {
  const here = place();
  writeFileSync(join(here.path, 'agent.ts'), 'mine');
  writeFileSync(join(here.path, 'other.ts'), 'mine');
  const refused = await here.run(['init']);
  expect([refused.code, refused.stderr.trim()]).toEqual([
    2,
    'coxswain: E_USAGE . is not empty (agent.ts, other.ts); give another folder, or --force, which replaces agent.ts and keeps the rest',
  ]);
  expect(readdirSync(here.path).toSorted()).toEqual(['agent.ts', 'other.ts']);
  expect((await here.run(['init', '--force'])).code).toBe(0);
  expect(readFileSync(join(here.path, 'agent.ts'), 'utf8')).toContain('save_note');
  expect(readFileSync(join(here.path, 'other.ts'), 'utf8')).toBe('mine');
});

test('init names a file, and a folder that cannot be made', async () => {
  const here = place();
  writeFileSync(join(here.path, 'file'), '');
  const file = await here.run(['init', 'file']);
  expect([file.code, file.stderr.trim()]).toEqual([2, 'coxswain: E_USAGE file is a file; give the path of a folder']);
  const below = await here.run(['init', 'file/below']);
  expect([below.code, below.stderr]).toEqual([
    2,
    expect.stringMatching(/^coxswain: E_USAGE file\/below cannot be written: ENOTDIR/),
  ]);
});
