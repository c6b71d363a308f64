import { expect, test } from 'vitest';
import type { AnyTool } from '../../src/contracts/index.ts';
import { createHost, LlmAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { tool } from '../runtime/kit.ts';
import { editorOf } from './editor.ts';

function hostOf(made: AnyTool, args: Record<string, unknown>) {
  const model = new ScriptedModel([{ calls: [[made.name, args]] }, 'done']);
  return createHost({ app: 'shop', tools: [made], warn: () => {}, agents: [new LlmAgent({ name: 'ours', model })] });
}

test('ATK3-08 an editor shows what nobody would see: in the title, in arguments without a preview, and in the preview', async () => {
  const plain = tool('rm', () => 'gone', { displayName: 'Tidy\u2066 up' });
  const editor = await editorOf(hostOf(plain, { path: 'a\u3164b' }), () => 'reject');
  await editor.prompt(await editor.start(), 'go');
  expect(editor.asked.map(({ toolCall: { title, content } }) => ({ title, content }))).toEqual([
    {
      title: 'Run Tidy\\u2066 up?',
      content: [{ type: 'content', content: { type: 'text', text: '{\n  "path": "a\\u3164b"\n}' } }],
    },
  ]);
  const shown = tool('rm', () => 'gone', { preview: () => [{ type: 'text' as const, text: 'removes x\u{e0079}y' }] });
  const other = await editorOf(hostOf(shown, { path: 'a' }), () => 'reject');
  await other.prompt(await other.start(), 'go');
  expect(other.asked[0]?.toolCall.content).toEqual([
    { type: 'content', content: { type: 'text', text: 'removes x\\u{e0079}y' } },
  ]);
});

test('ATK3-08 arguments that everybody sees are shown once', async () => {
  const editor = await editorOf(
    hostOf(
      tool('rm', () => 'gone'),
      { path: 'ab' },
    ),
    () => 'reject',
  );
  await editor.prompt(await editor.start(), 'go');
  expect(editor.asked[0]?.toolCall.content).toBeUndefined();
});

test('ATK3-08 so is what a handler asks in a form', async () => {
  const asking = tool('book', async (_: unknown, context) => {
    await context.elicit?.({
      message: 'Which \u202edaor\u202c?',
      requestedSchema: { type: 'object', properties: { road: { type: 'string' } } },
    });
    return 'booked';
  });
  const forms: string[] = [];
  const host = hostOf({ ...asking, annotations: { readOnly: true } }, {});
  const editor = await editorOf(
    host,
    () => 'allow',
    (message) => void forms.push(message),
  );
  const sessionId = await editor.start();
  const ended = editor.prompt(sessionId, 'go');
  await expect.poll(() => forms).toEqual(['Which \\u202edaor\\u202c?']);
  await editor.agent.notify('session/cancel', { sessionId });
  expect(await ended).toBe('cancelled');
});
