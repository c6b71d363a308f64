import { expect, test } from 'vitest';
import type { AgentEvent } from '../../src/contracts/index.ts';
import { toUiMessageStream, toUiMessages } from '../../src/entries/ui.ts';
import { AgUiWriter, answerOfResume } from '../../src/session/ag-ui/index.ts';
import { approvalIdOf } from '../../src/session/ui/index.ts';
import { all } from '../host/kit.ts';

const base = { timestamp: '2026-01-01T00:00:00.000Z', sessionId: 's', streamId: 'st', turnId: 't' };
const digest = 'd'.repeat(64);
const approval = { title: 'Pay?', preview: [], previewDigest: digest, requestedBy: { id: 'ann' }, remember: [] };
const question = { requestId: 'c#policy', callId: 'c', name: 'pay', args: {}, approval };
const events = [
  { ...base, id: 'e1', type: 'tool_request', requestId: 'c', name: 'pay', args: {}, handledBy: 'host' },
  { ...base, id: 'e2', type: 'elicitation_request', kind: 'tool_confirmation', message: 'Pay?', ...question },
] as unknown as AgentEvent[];

async function* given() {
  yield* events;
}

const refused = { code: 'E_BAD_INPUT', message: expect.stringContaining('mayAnswer returns true or false') };

/** What a caller without types, or with a cast, may pass. */
const wrong: Record<string, () => unknown> = {
  'a promise of false': () => Promise.resolve(false),
  'a promise of true': async () => true,
  'a promise that fails': () => Promise.reject(new Error('down')),
  nothing: () => undefined,
  'a text': () => 'no',
};

test.for(Object.entries(wrong))('HTTP-27 HTTP-29 mayAnswer that returns %s lets nobody answer', async ([, lie]) => {
  const mayAnswer = lie as () => boolean;
  const chunks = await all(toUiMessageStream(given(), { mayAnswer }));
  expect(chunks.map(({ type }) => type)).not.toContain('tool-approval-request');
  expect(chunks.at(-1)).toEqual({ type: 'error', errorText: expect.stringContaining('E_BAD_INPUT: mayAnswer') });
  expect(() => toUiMessages(events, [], { mayAnswer })).toThrow(expect.objectContaining(refused));
  const writer = new AgUiWriter({ threadId: 's', runId: 'r', mayAnswer });
  expect(() => writer.end('input_required', [question as never])).toThrow(expect.objectContaining(refused));
});

test('HTTP-27 mayAnswer is no function of a promise', () => {
  const ask = async () => false;
  // @ts-expect-error a promise would be taken for true
  const stream = toUiMessageStream(given(), { mayAnswer: ask });
  // @ts-expect-error here too
  expect(() => toUiMessages(events, [], { mayAnswer: ask })).toThrow(expect.objectContaining(refused));
  return stream.cancel();
});

test.each([
  [undefined, { type: 'object' }],
  [true, undefined],
])('INSP-20 a page is told where arguments cannot be edited: fixedArgs %s', async (fixedArgs, editedArgs) => {
  const asked = { ...question, approval: { ...approval, ...(fixedArgs ? { fixedArgs } : {}) } };
  const [interrupt] = new AgUiWriter({ threadId: 's', runId: 'r' })
    .end('input_required', [asked as never])
    .flatMap((event) => (event as { outcome?: { interrupts?: unknown[] } }).outcome?.interrupts ?? []);
  expect(interrupt).toMatchObject({ metadata: { coxswain: { title: 'Pay?' } } });
  const { responseSchema, metadata } = interrupt as {
    responseSchema: { properties: { editedArgs?: object } };
    metadata: { coxswain: { fixedArgs?: boolean } };
  };
  expect([responseSchema.properties.editedArgs, metadata.coxswain.fixedArgs]).toEqual([editedArgs, fixedArgs]);
});

test('HTTP-29 edited arguments that are no object approve nothing: what was edited away would run', () => {
  const answer = (editedArgs: unknown) =>
    answerOfResume(
      { interruptId: approvalIdOf('c#policy', digest), status: 'resolved', payload: { approved: true, editedArgs } },
      [question as never],
    );
  for (const edited of ['{"eur":1}', null, [], 0]) {
    expect(() => answer(edited)).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
  }
  expect(answer({ eur: 1 })?.answer).toEqual({ kind: 'approve', previewDigest: digest, args: { eur: 1 } });
});
