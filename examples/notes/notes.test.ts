import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createHost, run } from 'coxswain';
import { loadPolicy } from 'coxswain/policy';
import { ScriptedModel } from 'coxswain/testing';
import { notesAgent, saveNote } from './agent.ts';

/** A session in which the model asks for one note. Tool, policy and approvals are real. */
async function open(text: string) {
  const model = new ScriptedModel({ responses: [{ calls: [['save_note', { text }]] }, 'Done.'], strict: true });
  const policy = await loadPolicy(readFileSync('policy.yaml', 'utf8'));
  const host = createHost({ app: 'test', agents: [notesAgent(model)], tools: [saveNote], policy });
  return host.open('notes');
}

test('a note needs approval', async () => {
  const before = existsSync('notes.txt');
  const { reason, pending } = await run(await open('Buy oil.'), 'Keep this.');
  assert.equal(reason, 'input_required');
  assert.deepEqual(
    pending.map(({ name }) => name),
    ['save_note'],
  );
  assert.equal(existsSync('notes.txt'), before);
});

test('a password is not saved, and nobody is asked', async () => {
  const { reason, pending } = await run(await open('The password is 1234.'), 'Keep this.');
  assert.deepEqual([reason, pending], ['completed', []]);
});
