import { describe, expect, test } from 'vitest';
import type { AgentEvent, AgentSession } from '../../src/contracts/index.ts';
import { run } from '../../src/index.ts';
import { AnswerWords } from '../../src/session/index.ts';
import { LastWords } from '../../src/session/stream/last-words.ts';
import { clipped, MAX_WORDS, RecentWords } from '../../src/session/stream/recent-words.ts';

const message = (text: string, threadId?: string): AgentEvent =>
  ({ type: 'message', role: 'agent', content: [{ type: 'text', text }], ...(threadId ? { threadId } : {}) }) as never;

/** A session of somebody else's executor: whatever it likes to say. */
const saying = (events: () => Iterable<AgentEvent>): AgentSession =>
  ({
    stream: async function* () {
      yield* events();
      yield { type: 'stream_end', reason: 'completed', data: {} } as AgentEvent;
    },
  }) as never;

const many = Array.from({ length: 60 }, (_, k) => String.fromCharCode(65 + k).repeat(100_000));

describe('ATT-B9 what is kept of the words of a stream', () => {
  test('run() keeps the last ones of an executor that says more than four million characters', async () => {
    const { text, reason } = await run(
      saying(() => many.map((words) => message(words))),
      'go',
    );
    expect(reason).toBe('completed');
    const kept = many.slice(-41);
    expect(text).toBe(`[${19 * 100_000} earlier characters are left out]\n\n${kept.join('\n\n')}`);
  });

  test('run() keeps the end of one message that is longer', async () => {
    const { text } = await run(
      saying(() => [message(`${'x'.repeat(MAX_WORDS)}the end`)]),
      'go',
    );
    // No pattern: one over millions of characters uses up the stack of some runs.
    expect(text).toBe(`[7 earlier characters are left out]\n\n${'x'.repeat(MAX_WORDS - 7)}the end`);
  });

  test('run() names 10,000 denied calls', async () => {
    const denial = { type: 'tool_response', name: 't', errorType: 'denied' } as AgentEvent;
    const { denied } = await run(
      saying(() => Array.from({ length: 10_100 }, () => denial)),
      'go',
    );
    expect(denied).toHaveLength(10_000);
  });

  test('what branches said last is kept up to the same bound, the newest first', () => {
    const words = new AnswerWords();
    for (const [k, text] of many.entries()) {
      words.see({ type: 'custom', kind: 'agent_started', threadId: `team.b${k}` } as never);
      words.see(message(text, `team.b${k}`));
    }
    expect(words.text).toBe(many.slice(-41).join('\n\n'));
    const last = new LastWords();
    last.say('', `${'x'.repeat(MAX_WORDS)}!`, '');
    expect(last.text).toBe(clipped(`${'x'.repeat(MAX_WORDS)}!`));
  });

  test('ATK5-05 of branches without an end those are heard that spoke last, in the order in which they began', () => {
    const words = new AnswerWords();
    for (let n = 0; n < 12_000; n++) {
      words.see({ type: 'custom', kind: 'agent_started', threadId: `team.b${n}` } as never);
      words.see(message(`said by ${n}`, `team.b${n}`));
    }
    words.see(message('within the last', 'team.b11999.inner'));
    words.see(message('of the first', 'team.b0'));
    words.see(message('of nobody', `team.${'x'.repeat(10_000)}`));
    const said = words.text.split('\n\n');
    expect(said).toHaveLength(1000);
    expect([said[0], said[1], said.at(-1)]).toEqual(['of the first', 'said by 11001', 'within the last']);
  });

  test('no character is cut in two', () => {
    expect(clipped('ab😀c', 2)).toBe('[4 earlier characters are left out]\n\nc');
    expect(clipped('abc', 3)).toBe('abc');
  });

  test('short words are kept as they are', () => {
    const words = new RecentWords(10);
    for (const text of ['one', '', 'two']) words.say(text);
    expect(words.text).toBe('one\n\ntwo');
    for (const text of ['three', 'four']) words.say(text);
    expect(words.text).toBe('[6 earlier characters are left out]\n\nthree\n\nfour');
    words.say('y'.repeat(12));
    expect(words.text).toMatch(
      /^\[\d+ earlier characters are left out\]\n\n\[2 earlier characters are left out\]\n\ny{10}$/,
    );
  });
});
