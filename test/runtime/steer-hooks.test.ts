import { describe, expect, test } from 'vitest';
import { hooks } from '../../src/contracts/index.ts';
import { allowAll, createHost, fromAgent } from '../../src/index.ts';
import { hooksPlugin } from '../../src/runtime/index.ts';
import { run } from '../../src/session/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { collect, gate, host, llm, tool } from './kit.ts';

type Guarding = 'a plugin' | 'a plugin under a host' | 'the host’s hooks' | 'the hooks of a context';

/** A session whose `wait` tool waits, and whoever says a number is not heard. */
async function setting(kind: Guarding) {
  const heard: string[] = [];
  const started = gate();
  const go = gate();
  const wait = tool('wait', async () => {
    started.open();
    await go.opened;
    return 'waited';
  });
  const guard = hooks({
    onUserMessage({ userMessage }) {
      const words = userMessage.parts.map((part) => (part.type === 'text' ? part.text : '')).join();
      heard.push(words);
      if (words.includes('forbidden')) return { action: 'block', reason: 'not that' };
      return { action: 'proceed', modifications: { replacement: words.replace(/\d+/, '#') } };
    },
  });
  const model = new ScriptedModel([{ calls: [['wait']] }, 'done', 'heard']);
  const isPlugin = kind.startsWith('a plugin');
  const source = fromAgent(llm('bot', model, { tools: [wait] }), {
    plugins: isPlugin ? [hooksPlugin(guard)] : [],
  });
  const own = isPlugin ? {} : { hooks: guard };
  const session =
    kind === 'a plugin' || kind === 'the hooks of a context'
      ? await source.open({}, { ...host, ...own })
      : await createHost({ app: 'shop', agents: [source], policy: allowAll(), ...own }).open('bot');
  return { session, heard, started, go, model };
}

const kinds: Guarding[] = ['a plugin', 'a plugin under a host', 'the host’s hooks', 'the hooks of a context'];

describe.each(kinds)('S0-03 S3-60 words that are added to a turn pass the on_user_message of %s', (kind) => {
  test('once, while it runs and after it', async () => {
    const { session, heard, started, go, model } = await setting(kind);
    const ended = run(session, 'call 1');
    await started.opened;
    expect((await session.steer({ content: 'my number is 42' })).disposition).toBe('current_turn');
    go.open();
    expect((await ended).reason).toBe('completed');
    expect((await session.steer({ content: 'or 43' })).disposition).toBe('next_turn');
    await run(session, 'so?');
    expect(heard).toEqual(['call 1', 'my number is 42', 'or 43', 'so?']);
    const asked = JSON.stringify(model.requests.at(-1)?.contents);
    expect([asked.includes('my number is #'), asked.includes('or #'), /is 42|or 43/.test(asked)]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('one that is refused is not stored', async () => {
    const { session, started, go } = await setting(kind);
    const ended = run(session, 'call 1');
    await started.opened;
    await expect(session.steer({ content: 'forbidden words' })).rejects.toMatchObject({ code: 'E_HOOK_BLOCKED' });
    go.open();
    await ended;
    expect(JSON.stringify(await collect(session.events()))).not.toContain('forbidden');
  });
});
