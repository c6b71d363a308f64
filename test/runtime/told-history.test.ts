import { describe, expect, test } from 'vitest';
import type { ContentPart } from '../../src/contracts/index.ts';
import type { EventInit, StoredEvent, Viewer } from '../../src/runtime/index.ts';
import { History, mergeAdjacent, sees } from '../../src/runtime/index.ts';
import { Folding } from './folding.ts';
import { brief, text, user } from './kit.ts';

const viewer: Viewer = { agent: 'bot', branch: undefined, iso: '' };
const shown = (f: Folding, of: Partial<Viewer> = {}) => {
  const byId = (id: string): StoredEvent | undefined => f.events.find((event) => event.id === id);
  return new History({ ...viewer, ...of }).extend(f.events, byId);
};
const told = (f: Folding, of: Partial<Viewer> = {}) => brief(shown(f, of));
const late = (id: string) =>
  expect.stringContaining(`The result of the earlier call ${id} to tool tool ${id} has come`);

test.each<[string | undefined, string | undefined, boolean]>([
  [undefined, 'a', true],
  ['a', undefined, true],
  ['a', 'a', true],
  ['a', 'a.b', true],
  ['a.b', 'a', true],
  ['a', 'ab', false],
  ['ab', 'a', false],
  ['a.b', 'a.c', false],
])('%s sees %s: %s', (one, other, expected) => {
  expect(sees(one, other)).toBe(expected);
});

describe('what an agent is shown', () => {
  test('is what was said, without pieces, silence and words that wait', () => {
    const f = new Folding();
    f.add({ author: 'user', content: user('hi') });
    f.speak('piece', { partial: true });
    f.add({ author: 'bot', content: { role: 'model', parts: [] } });
    f.add({ author: 'user', content: user('later'), actions: { steer: true } });
    f.speak('hello');
    expect(told(f)).toEqual(['user: hi', 'model: hello']);
  });

  test('has words that waited where they were delivered', () => {
    const f = new Folding();
    const { id } = f.add({ author: 'user', content: user('wait'), actions: { steer: true } });
    f.speak('a');
    f.act({ delivered: ['gone', id] });
    expect(told(f)).toEqual(['model: a', 'user: wait']);
  });

  test('has a place for each answer, with what the provider calls its call', () => {
    const f = new Folding();
    f.call(['c1', 'c2'], {}, { provider: { id: 'x' } });
    f.respond('c2');
    expect(told(f)[1]).toBe('user: tool c1 = {"status":"pending","message":"No result yet."} | tool c2 = {}');
    expect(shown(f)[1]?.parts.map(({ _meta }) => _meta)).toEqual([
      { provider: { id: 'x' } },
      { provider: { id: 'x' } },
    ]);
    const plain = new Folding();
    plain.call(['c1']);
    expect(shown(plain)[1]?.parts[0]).not.toHaveProperty('_meta');
  });

  test('has a first word in that place, and the result behind it, as news', () => {
    const f = new Folding();
    f.call(['c1'], { longRunningToolIds: ['c1'] });
    f.act({ interim: { gone: {}, c1: { status: 'sent' } } });
    expect(told(f)[1]).toBe('user: tool c1 = {"status":"sent"}');
    f.respond('c1');
    expect(told(f).slice(1)).toEqual([
      'user: tool c1 = {"status":"sent"}',
      `user: The result of the earlier call c1 to tool tool c1 has come: {}`,
    ]);
  });

  test('has a result as news where it has spoken on meanwhile', () => {
    const f = new Folding();
    f.call(['c1']);
    f.add({ author: 'user', content: user('well?') });
    f.speak('a moment');
    f.respond('c1');
    expect(told(f).at(-1)).toEqual(late('c1'));
    f.respond('c1');
    expect(told(f)).toHaveLength(5);
    const g = new Folding();
    g.call(['c1']);
    g.add({ author: 'user', content: user('well?') });
    g.respond('c1');
    expect(told(g)).toEqual(['model: call tool c1({"of":"c1"})', 'user: tool c1 = {}', 'user: well?']);
  });

  test('has words that stand beside results by themselves', () => {
    const f = new Folding();
    f.call(['c1']);
    const response: ContentPart = { type: 'function_response', id: 'c1', name: 'tool c1', response: { a: 1 } };
    f.add({ author: 'user', content: { role: 'user', parts: [response, { type: 'text', text: 'and this' }] } });
    expect(told(f).slice(1)).toEqual(['user: tool c1 = {"a":1}', 'user: and this']);
    const g = new Folding();
    g.call(['c1']);
    g.add({ author: 'bot', content: { role: 'user', parts: [response, { type: 'text', text: 'beside' }] } });
    expect(told(g).slice(1)).toEqual(['user: tool c1 = {"a":1}', 'user: beside']);
  });

  test('begins where it is to, with news of calls from before', () => {
    const f = new Folding();
    f.speak('old');
    f.call(['c1']);
    const { seq } = f.act({ turn: { start: 'bot' } }, { turnId: 'u', content: user('new') });
    f.respond('c1');
    f.respond('gone');
    expect(told(f, { from: seq })).toEqual(['user: new', late('c1'), late('gone')]);
    expect(told(f).slice(0, 2)).toEqual(['model: old', 'model: call tool c1({"of":"c1"})']);
    const whole = new Folding();
    whole.respond('gone');
    expect(told(whole)).toEqual([]);
  });

  test('has another agent’s words as context: text, calls, results and pictures', () => {
    const f = new Folding();
    const media: ContentPart = { type: 'media', mimeType: 'image/png', data: 'AAAA' };
    const reference = { type: 'reference', uri: 'u' } as unknown as ContentPart;
    f.add({
      author: 'eve',
      content: {
        role: 'model',
        parts: [{ type: 'thought', thought: 'hm' }, { type: 'text', text: 'look' }, media, reference],
      },
    });
    f.call(['c1'], { author: 'eve' });
    f.respond('c1', { author: 'eve' });
    f.add({ author: 'eve', content: { role: 'model', parts: [media] } });
    f.add({ author: 'eve', content: { role: 'model', parts: [{ type: 'thought', thought: 'hm' }] } });
    expect(told(f)).toEqual([
      'user: [eve] look | media | reference',
      'user: [eve] called tool tool c1 with {"of":"c1"}',
      'user: [eve] tool tool c1 returned {}',
      'user: media',
    ]);
  });

  const elsewhere: [string, Partial<EventInit>, Partial<Viewer>][] = [
    ['in an agent run as a tool', { iso: '/x', path: '/x' }, {}],
    ['on another branch', { branch: 'all.amy' }, { branch: 'all.bob' }],
  ];
  test.each(elsewhere)('is told of what a long-running call has come to %s, once that turn is over', (_, place, of) => {
    const f = new Folding();
    f.call(['c1', 'c2'], { ...place, longRunningToolIds: ['c1'] });
    f.respond('c2', place);
    expect(told(f, of)).toEqual([]);
    f.act({ end: { reason: 'completed' } });
    f.respond('c1', place);
    expect(told(f, of)).toEqual([late('c1')]);
    expect(told(f, { iso: '/y' })).toEqual([]);
    const g = new Folding();
    g.call(['c1', 'c2', 'c3'], { ...place, longRunningToolIds: ['c1', 'c2'] });
    g.act({ turn: { start: 'bot' } }, { turnId: 'u' });
    g.respond('c1', place, { errorType: 'interrupted' });
    g.respond('c2', place, { errorType: 'cancelled' });
    g.respond('c3', place);
    expect(told(g, of)).toEqual([]);
    const during = new Folding();
    during.call(['c1'], { ...place, longRunningToolIds: ['c1'] });
    during.respond('c1', place);
    expect(told(during, of)).toEqual([]);
  });
});

test('neighbours of one role are joined, and what they were made from stays as it is', () => {
  const contents = [user('a'), user('b'), text('c'), user('d')];
  expect(brief(mergeAdjacent(contents))).toEqual(['user: a | b', 'model: c', 'user: d']);
  expect(brief(contents)).toEqual(['user: a', 'user: b', 'model: c', 'user: d']);
});
