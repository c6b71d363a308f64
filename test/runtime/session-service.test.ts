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

test('a copy has the ids of its part of the log, whichever copy of a copy it is, and none that came later', async () => {
  const service = new InMemorySessionService();
  await service.create(key);
  await service.append(
    key,
    Array.from({ length: 20 }, (_, n) => event(`e${n}`)),
  );
  let of = key;
  for (let generation = 1; generation <= 12; generation++) {
    const length = 20 + generation;
    const next = (await service.fork(of, { id: `g${generation}`, through: length - 1 })).key;
    // What its source gains afterwards is not its own.
    await service.append(of, [event('later'), event(`later ${generation}`)]);
    for (const taken of ['e0', 'e19', ...(generation > 1 ? ['own 1', `own ${generation - 1}`] : [])]) {
      const refused = service.append(next, [event('free'), event(taken)]);
      await expect(refused).rejects.toMatchObject({ code: 'E_EVENT_EXISTS', details: { id: taken } });
    }
    expect((await service.append(next, [event(`own ${generation}`)]))[0]?.seq).toBe(length);
    of = next;
  }
  const early = (await service.fork(of, { id: 'early', through: 21 })).key;
  await expect(service.append(early, [event('own 1')])).rejects.toMatchObject({ details: { id: 'own 1' } });
  expect(await service.append(early, [event('own 2'), event('later')])).toHaveLength(2);
});

test('the record that settles a copy is of that moment', async () => {
  const service = new InMemorySessionService();
  await service.create(key);
  await service.append(key, [event('e1')]);
  const shown: (readonly unknown[])[] = [];
  const { key: copy } = await service.fork(key, {
    settle: ({ events }) => {
      shown.push(events);
      return [event('e2')];
    },
  });
  await service.append(copy, [event('e3')]);
  expect(shown.map((events) => events.length)).toEqual([1]);
});
