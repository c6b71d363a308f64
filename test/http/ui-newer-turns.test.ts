import { expect, test } from 'vitest';
import { rewind, turnStarts } from '../../src/entries/stores.ts';
import { InMemorySessionService } from '../../src/index.ts';
import { all, bot, hostOf, notingTool, policyOf, slowTool } from '../host/kit.ts';
import { fronting } from './kit.ts';
import { page, resting, seen, toolsOf } from './ui-kit.ts';

const pays = { calls: [['pay', {}]] };

/** A page whose second message waits for an approval. */
async function asked(script: readonly unknown[]) {
  const store = new InMemorySessionService();
  const pay = notingTool('pay');
  const slow = slowTool('slow');
  const { host } = hostOf(bot(['one', pays, ...script] as never), {
    ...{ store, app: 'shop', tools: [pay.tool, slow.tool], policy: policyOf({ pay: 'ask' }) },
  });
  const chat = page(await fronting(host));
  for (const text of ['first', 'go']) await chat.sendMessage({ text });
  await resting(chat);
  const other = await host.open('bot', { sessionId: 's', userId: 'anna' });
  /** Somebody answers what is open, on another page. */
  const approve = async () => {
    const [open] = await other.pending();
    await other.respond(open?.requestId ?? '', { kind: 'approve' });
    await all(other.stream({ kind: 'continue' }));
  };
  const answer = async () => {
    const [part] = toolsOf(chat).filter(({ state }) => state === 'approval-requested');
    await chat.addToolApprovalResponse({ id: part?.approval?.id ?? '', approved: true });
  };
  const last = () => seen(chat.messages).at(-1);
  const isResolved = () => toolsOf(chat).every(({ state }) => state.startsWith('output'));
  return { store, pay, slow, chat, other, approve, answer, last, isResolved };
}

test('ATK9-11 a page that answers what others have answered is sent the rest of its own turn, and nothing of newer ones', async () => {
  const { chat, other, approve, answer, last, pay, isResolved } = await asked(['paid', 'three', pays]);
  await approve();
  await all(other.stream('third'));
  // What the newest turn asks is not for this message either.
  await all(other.stream('fourth'));
  await answer();
  await resting(chat, isResolved);
  expect(last()).toEqual(['assistant', 'tool-pay output-available "pay done"', 'text: paid']);
  expect(pay.runs).toHaveLength(1);
});

test('ATK9-11 sibling: while a newer turn runs', async () => {
  const { chat, other, approve, answer, last, slow, isResolved } = await asked([
    'paid',
    { calls: [['slow', {}]] },
    'three',
  ]);
  await approve();
  const running = all(other.stream('third'));
  await slow.started;
  await answer();
  await resting(chat, isResolved);
  expect(last()?.at(-1)).toBe('text: paid');
  slow.finish('done');
  await running;
  expect(last()?.at(-1)).toBe('text: paid');
});

test('ATK9-11 a page that answers what was rewound is sent that it is over, once, and nothing of other turns', async () => {
  const { store, chat, answer, last, pay, isResolved } = await asked(['anew']);
  const key = { app: 'shop', userId: 'anna', id: 's' };
  await rewind(store, key, turnStarts((await store.get(key))?.events ?? [])[1] ?? 0);
  await answer();
  await resting(chat, isResolved);
  expect(last()).toEqual(['assistant', 'tool-pay output-error']);
  expect(pay.runs).toEqual([]);
  await chat.sendMessage({ text: 'again' });
  expect(last()).toEqual(['assistant', 'text: anew']);
});
