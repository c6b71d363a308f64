import { describe, expect, test } from 'vitest';
import type { FromAgentOptions } from '../../src/adapters/adk/index.ts';
import { fromAgent } from '../../src/adapters/adk/index.ts';
import type { AgentEvent, AnyAgentTool } from '../../src/contracts/index.ts';
import type { LlmAgentOptions } from '../../src/runtime/index.ts';
import { agentTool, InMemorySessionService } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { gate, host, key, llm, tool } from './kit.ts';
import { reasonOf } from './resumed.ts';

/** A tool that says when it has begun, and ends when it is let go; its signals. */
function held(name: string, extra: Partial<AnyAgentTool> = {}) {
  const begun = gate();
  const go = gate<unknown>();
  const signals: AbortSignal[] = [];
  const own = tool(name, async (_, context) => {
    signals.push(context.signal);
    begun.open();
    return go.opened as never;
  });
  return { own: { ...own, ...extra } as AnyAgentTool, begun: begun.opened, go: go.open, signals };
}

/** A stream that calls these tools at once, then says `done`. */
async function streaming(
  tools: readonly AnyAgentTool[],
  options: Omit<LlmAgentOptions, 'name'> = {},
  source: FromAgentOptions = {},
) {
  const sessions = new InMemorySessionService();
  const model = new ScriptedModel([{ calls: tools.map(({ name }) => [name, { request: 'go' }] as const) }, 'done']);
  const agent = llm('bot', model, { tools, ...options });
  const session = await fromAgent(agent, { store: sessions, warn: () => {}, ...source }).open(
    { sessionId: key.id, create: true },
    host,
  );
  const events: AgentEvent[] = [];
  const ended = (async () => {
    for await (const event of session.stream('go')) events.push(event);
    return reasonOf(events);
  })();
  const log = async () => (await sessions.get({ ...key, userId: host.userId ?? 'local' }))?.events ?? [];
  const parts = async () => (await log()).flatMap(({ content }) => content?.parts ?? []);
  const idOf = async (name: string) => {
    for (const part of await parts()) if (part.type === 'function_call' && part.name === name) return part.id;
    throw new Error(`there is no call of ${name}`);
  };
  const outcomes = async () =>
    (await parts()).flatMap((part) =>
      part.type === 'function_response' ? [`${part.name} ${part.errorType ?? 'ok'}`] : [],
    );
  const abort = async (name: string, reason = 'not that') => session.abort({ requestId: await idOf(name), reason });
  return { session, ended, log, outcomes, abort, model };
}

describe('one call that somebody ends', () => {
  test('while its tool runs is interrupted; the tool hears why, the others and the turn go on', async () => {
    const [one, two] = [held('one'), held('two')];
    const s = await streaming([one.own, two.own]);
    await Promise.all([one.begun, two.begun]);
    await s.abort('one');
    expect(await s.outcomes()).toEqual(['one interrupted']);
    expect(one.signals.map(({ reason }) => (reason as Error).message)).toEqual(['not that']);
    expect(two.signals.map(({ aborted }) => aborted)).toEqual([false]);
    two.go('fine');
    expect(await s.ended).toBe('completed');
    one.go('too late');
    expect(await s.outcomes()).toEqual(['one interrupted', 'two ok']);
    const told = JSON.stringify(s.model.requests[1]?.contents);
    expect([told.includes('interrupted: not that'), told.includes('too late')]).toEqual([true, false]);
    await s.abort('one');
    expect(await s.outcomes()).toHaveLength(2);
  });

  test('before its turn has come never runs', async () => {
    const [one, two] = [held('one'), held('two')];
    const s = await streaming([one.own, two.own], {}, { toolConcurrency: 1 });
    await one.begun;
    await s.abort('two');
    one.go('fine');
    expect(await s.ended).toBe('completed');
    expect([await s.outcomes(), two.signals]).toEqual([['two cancelled', 'one ok'], []]);
    expect((await s.log()).flatMap(({ actions }) => actions.started ?? [])).toHaveLength(1);
  });

  test('while a hook looks at its result has run: the result stands', async () => {
    const begun = gate();
    const s = await streaming([tool('one', () => 'ran')], {
      afterTool: () => {
        begun.open();
        return new Promise(() => {});
      },
    });
    await begun.opened;
    await s.abort('one');
    expect([await s.ended, await s.outcomes()]).toEqual(['completed', ['one ok']]);
  });

  test('while a hook looks at its error has failed: the error stands', async () => {
    const begun = gate();
    const failing = tool('one', () => {
      throw new Error('broken');
    });
    const s = await streaming([failing], {
      onToolError: () => {
        begun.open();
        return new Promise(() => {});
      },
    });
    await begun.opened;
    await s.abort('one');
    expect([await s.ended, await s.outcomes()]).toEqual(['completed', ['one failed']]);
  });

  test('that runs an agent ends that with all that it does', async () => {
    const inner = held('inner');
    const expert = llm('expert', new ScriptedModel([{ calls: [['inner']] }, 'never']), { tools: [inner.own] });
    const s = await streaming([agentTool(expert)]);
    await inner.begun;
    await s.abort('expert');
    expect(inner.signals[0]?.aborted).toBe(true);
    expect([await s.ended, await s.outcomes()]).toEqual(['completed', ['inner interrupted', 'expert interrupted']]);
    expect((await s.session.pending()).length).toBe(0);
  });

  test('that waits for an answer is closed with its question', async () => {
    const two = held('two');
    const s = await streaming([tool('one', () => 1, { needsApproval: true }), two.own]);
    await two.begun;
    await s.abort('one');
    expect(await s.outcomes()).toEqual(['one cancelled']);
    two.go('fine');
    expect([await s.ended, await s.outcomes()]).toEqual(['completed', ['one cancelled', 'two ok']]);
  });

  test('that is not there is nobody’s', async () => {
    const one = held('one');
    const s = await streaming([one.own]);
    await one.begun;
    await s.session.abort({ requestId: 'gone' });
    one.go('fine');
    expect(await s.ended).toBe('completed');
  });
});

describe('a turn that is ended while calls run', () => {
  test('interrupts those that run, cancels those that wait, and takes no late word', async () => {
    const [one, two] = [held('one'), held('two')];
    const s = await streaming([one.own, two.own], {}, { toolConcurrency: 1 });
    await one.begun;
    await s.session.abort({ reason: 'enough' });
    one.go('late');
    expect(await s.ended).toBe('aborted');
    expect([(await s.outcomes()).toSorted(), two.signals]).toEqual([['one interrupted', 'two cancelled'], []]);
    expect(one.signals.map(({ reason }) => (reason as { code: string }).code)).toEqual(['E_ABORTED']);
    expect((await s.log()).at(-1)?.actions.end?.reason).toBe('aborted');
  });
});
