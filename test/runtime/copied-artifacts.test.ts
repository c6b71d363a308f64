import { describe, expect, test } from 'vitest';
import type { ArtifactVersions, StoredEvent } from '../../src/runtime/index.ts';
import { copiedVersions, copySession, createEvent, InMemorySessionService } from '../../src/runtime/index.ts';
import { InMemoryArtifactService } from '../../src/runtime/services/index.ts';
import { key } from './kit.ts';

const saved = (id: string, artifactDelta: Record<string, number>) =>
  createEvent({ id, author: 'bot', turnId: 't', actions: { artifactDelta } });

/** Notes what it is asked to copy. */
class Noting extends InMemoryArtifactService {
  readonly copied: { from: string; to: string; files: ArtifactVersions }[] = [];
  fault: Error | undefined;

  override async copy(...[source, target, files]: Parameters<InMemoryArtifactService['copy']>): Promise<void> {
    this.copied.push({ from: source.id, to: target.id, files });
    if (this.fault) throw this.fault;
    return super.copy(source, target, files);
  }
}

async function copying(events: readonly StoredEvent[]) {
  const sessions = new InMemorySessionService();
  await sessions.create(key);
  await sessions.append(key, events);
  const artifacts = new Noting();
  const warnings: string[] = [];
  const copy = (options = {}, of: Parameters<typeof copySession>[1] = artifacts) =>
    copySession(sessions, of, key, { id: 'copy', ...options }, (message) => warnings.push(message));
  return { sessions, artifacts, warnings, copy };
}

const three = [
  saved('a', { 'plan.md': 1, 'user:me.md': 4 }),
  saved('b', { 'plan.md': 2, 'bill.pdf': 7 }),
  saved('c', { 'plan.md': 2 }),
];

describe('MUT-R25 a copy of a session', () => {
  test('takes along each version that its log names, of files of the session alone', async () => {
    const { artifacts, copy, warnings } = await copying(three);
    await artifacts.save(key, 'plan.md', { mimeType: 'text/plain', data: 'b25l' });
    await artifacts.save(key, 'plan.md', { mimeType: 'text/plain', data: 'dHdv' });
    const record = await copy();
    expect(artifacts.copied).toEqual([{ from: 's1', to: 'copy', files: { 'plan.md': [1, 2], 'bill.pdf': [7] } }]);
    expect(await artifacts.versions(record.key, 'plan.md')).toEqual([2, 1]);
    expect(warnings).toEqual([]);
  });

  test('up to an event takes along what is named until then', async () => {
    const { artifacts, copy } = await copying(three);
    await copy({ through: 1 });
    expect(artifacts.copied).toEqual([{ from: 's1', to: 'copy', files: { 'plan.md': [1] } }]);
  });

  test('is settled as its caller says, whether that reads the log in pages or as a whole', async () => {
    const { artifacts, copy, sessions } = await copying(three);
    const given: number[] = [];
    const settle = ({ events }: { events: readonly StoredEvent[] }) => {
      given.push(events.length);
      return [createEvent({ id: 'end', author: 'user', turnId: '' })];
    };
    const record = await copy({ settle });
    expect([given, (await sessions.get(record.key))?.events.at(-1)?.id]).toEqual([[3], 'end']);
    expect(artifacts.copied[0]?.files).toEqual({ 'plan.md': [1, 2], 'bill.pdf': [7] });
    const pages: string[] = [];
    const inPages = (state: object) => {
      pages.push(`of ${JSON.stringify(state)}`);
      return {
        see: (events: readonly StoredEvent[], counting: readonly StoredEvent[]) =>
          void pages.push(`${events.length} of which ${counting.length} count`),
        end: () => [createEvent({ id: 'last', author: 'user', turnId: '' })],
      };
    };
    const paged = await copy({ id: 'other', settle: Object.assign(() => [], { inPages }) });
    expect([pages, (await sessions.get(paged.key))?.events.at(-1)?.id]).toEqual([
      ['of {}', '3 of which 3 count'],
      'last',
    ]);
    expect(artifacts.copied[1]?.files).toEqual({ 'plan.md': [1, 2], 'bill.pdf': [7] });
  });

  test('closes what is open, with artifacts and without', async () => {
    const call = createEvent({
      id: 'call',
      author: 'bot',
      turnId: 't',
      actions: { turn: { start: 'bot' } },
      content: { role: 'model', parts: [{ type: 'function_call', id: 'c1', name: 'pay', args: {} }] },
    });
    const { artifacts, sessions } = await copying([call, ...three]);
    for (const [id, of] of [['with', artifacts] as const, ['without', undefined] as const]) {
      const record = await copySession(sessions, of, key, { id }, () => {});
      const events = (await sessions.get(record.key))?.events ?? [];
      expect(JSON.stringify(events)).toContain('the session was forked');
    }
  });

  test('of a log that names no file asks for none', async () => {
    const { artifacts, copy } = await copying([saved('a', { 'user:me.md': 1 }), saved('b', {})]);
    await copy();
    expect(artifacts.copied).toEqual([]);
  });

  test('is there without them where they cannot be copied, with a warning where that fails', async () => {
    const { artifacts, copy, warnings, sessions } = await copying(three);
    artifacts.fault = new Error('the disk is full');
    const record = await copy();
    expect((await sessions.get(record.key))?.lastSeq).toBe(3);
    expect(warnings).toEqual(['the artifacts of session s1 were not copied to copy: the disk is full']);
    const without = Object.assign(new InMemoryArtifactService(), { copy: undefined });
    await copy({ id: 'other' }, without as unknown as InMemoryArtifactService);
    expect((await sessions.get({ ...key, id: 'other' }))?.lastSeq).toBe(3);
    expect(warnings).toHaveLength(1);
  });
});

describe('MUT-R25 what is to be copied', () => {
  const to = { ...key, id: 'copy' };

  test('are whole versions of files of the session', () => {
    const files = { 'plan.md': [0, 1, 2], 'user:me.md': [1] };
    expect(copiedVersions(key, to, files)).toEqual([['plan.md', [1, 2]]]);
  });

  test.each<[string, Parameters<typeof copiedVersions>, string]>([
    ['to another user', [key, { ...to, userId: 'bob' }, {}], 'E_BAD_INPUT'],
    ['to another app', [key, { ...to, app: 'till' }, {}], 'E_BAD_INPUT'],
    ['from no session', [{ ...key, id: '' }, to, {}], 'E_ID'],
    ['to no session', [key, { ...to, id: '' }, {}], 'E_ID'],
    ['of half a version', [key, to, { 'plan.md': [1.5] }], 'E_BAD_INPUT'],
  ])('nothing is copied %s', (_, given, code) => {
    expect(() => copiedVersions(...given)).toThrow(expect.objectContaining({ code }));
  });
});
