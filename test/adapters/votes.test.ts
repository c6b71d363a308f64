import { expect, test } from 'vitest';
import type { Settlement } from '../../src/index.ts';
import { run } from '../../src/index.ts';
import { sqliteFile } from './databases.ts';
import { startChild } from './processes.ts';
import { quorumHost, vote } from './votes-host.ts';

test('ATT-B5 twelve people in two processes complete a quorum of five at once: one settles it, seven are too late', async () => {
  const database = await sqliteFile.make();
  const service = await database.open();
  let runs = 0;
  const host = quorumHost(service, () => runs++);
  const session = await host.open('bot', { sessionId: 's', create: true });
  const { pending } = await run(session, 'pay');
  const requestId = pending[0]?.requestId ?? '';
  const other = startChild('votes-child.ts', database.url as string);
  try {
    expect(await other.next()).toBe('ready');
    const people = (place: string) => Array.from({ length: 6 }, (_, n) => `${place}${n}`);
    other.tell([requestId, ...people('there')].join(' '));
    const here = await Promise.all(people('here').map((id) => vote(session, requestId, id)));
    const came: Settlement[] = [...here, ...JSON.parse((await other.next()) ?? '[]')];
    const of = (wanted: string) => came.filter(({ status }) => status === wanted);
    const [settled] = of('settled');
    expect(of('settled')).toHaveLength(1);
    expect(of('waiting_quorum')).toHaveLength(4);
    const late = { status: 'already_settled', outcome: 'accept', by: settled?.by };
    expect(of('already_settled')).toEqual(Array(7).fill(late));
    await run(session, { kind: 'continue' });
    expect(runs).toBe(1);
  } finally {
    await other.kill();
    await host.close();
    await service.close();
    await database.drop();
  }
});
