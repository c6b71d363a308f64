import { expect, test } from 'vitest';
import { InMemorySessionService } from '../../src/runtime/index.ts';
import { event, key, sessionServiceSuite } from '../suites/session-service.ts';

sessionServiceSuite('memory', async () => {
  const service = new InMemorySessionService();
  return { service, close: () => service.close() };
});

test('the ids of a long log, and of its copies, are taken each once', async () => {
  const service = new InMemorySessionService();
  await service.create(key);
  const length = 10_000;
  const ids = Array.from({ length }, (_, n) => (n % 2 === 0 ? `${n}` : crypto.randomUUID()));
  const source = ids.slice(0, 5000).map((id) => event(id));
  await service.append(key, source);
  const half = (await service.fork(key, { id: 'half', through: 2500 })).key;
  const copy = (await service.fork(key, { id: 'copy' })).key;
  const second = (await service.fork(copy, { id: 'second' })).key;
  const rest = (from: number) => ids.slice(from).map((id) => event(id));
  for (const [of, from] of [
    [key, 5000],
    [copy, 5000],
    [second, 5000],
    [half, 2500],
  ] as const) {
    for (const taken of [0, from - 1]) {
      const refused = service.append(of, [...rest(from), event(ids[taken] ?? '')]);
      await expect(refused).rejects.toMatchObject({ code: 'E_EVENT_EXISTS', details: { id: ids[taken] } });
    }
    expect((await service.append(of, rest(from))).at(-1)?.seq).toBe(length);
    for (const id of [ids[1], ids[from], ids[length - 1]])
      await expect(service.append(of, [event(id ?? '')])).rejects.toMatchObject({ details: { id } });
  }
});
