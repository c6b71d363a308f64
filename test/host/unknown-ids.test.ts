import { expect, test } from 'vitest';
import { assertClientRuns, HostedSession } from '../../src/host/hosted/index.ts';
import { createHost, fromAgent, InMemorySessionService } from '../../src/index.ts';
import { countedLog } from '../counted-log.ts';
import { bot, say } from './kit.ts';

/** An agent that answers so often. */
const counted = (answers: number) => countedLog(fromAgent(bot(Array.from({ length: answers }, () => 'done'))));

test('ATK3-11 whoever answers questions that were never asked has the log read once, not once for each', async () => {
  const { source, read } = counted(11);
  const host = createHost({ app: 'shop', agents: [source], store: new InMemorySessionService() });
  const session = await host.open('bot', { create: true });
  for (let turn = 0; turn < 10; turn++) await say(session, 'go');
  const guess = (id: string) => session.respond(id, { kind: 'approve' }).catch((error: { code: string }) => error.code);
  expect(await guess('x#policy')).toBe('E_UNKNOWN_REQUEST');
  read.events = 0;
  for (let n = 0; n < 10; n++) expect(await guess(`x${n}#policy`)).toBe('E_UNKNOWN_REQUEST');
  expect(read.events).toBe(0);
  const log = await say(session, 'go');
  read.events = 0;
  expect(await guess('y#policy')).toBe('E_UNKNOWN_REQUEST');
  expect(read.events).toBeLessThanOrEqual(log.length);
  await host.close();
});

test('ATK3-11 sibling: a client that gives results of calls that were never made has the log read once', async () => {
  const { source, read } = counted(10);
  const host = createHost({ app: 'shop', agents: [source], store: new InMemorySessionService() });
  const session = await host.open('bot', { create: true });
  if (!(session instanceof HostedSession)) throw new Error('a host opens no other');
  for (let turn = 0; turn < 10; turn++) await say(session, 'go');
  await assertClientRuns(session, 'x');
  read.events = 0;
  for (let n = 0; n < 10; n++) await assertClientRuns(session, `x${n}`);
  expect(read.events).toBe(0);
  await host.close();
});
