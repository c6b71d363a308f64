import { describe, expect, test, vi } from 'vitest';
import type { AgentSession, ErrorCode } from '../../src/contracts/index.ts';
import { CoxswainError } from '../../src/contracts/index.ts';
import { createHost, defineTool, InMemorySessionService, LlmAgent, rulePolicy } from '../../src/index.ts';
import { createEvent, readOn } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { endOf, refusal, say } from './kit.ts';

/** Says of each write that its event is there already, and writes something of its own each time. */
class Liar extends InMemorySessionService {
  on = false;
  refused = 0;
  override async append(...given: Parameters<InMemorySessionService['append']>) {
    if (!this.on) return super.append(...given);
    this.refused++;
    await super.append(given[0], [createEvent({ author: 'somebody', turnId: '' })]);
    throw new CoxswainError('ALREADY_EXISTS', 'E_EVENT_EXISTS', 'it is there');
  }
}

async function asked(store: InMemorySessionService): Promise<AgentSession> {
  const pay = defineTool({ name: 'pay', description: 'Pays.', inputSchema: { type: 'object' }, execute: () => 'paid' });
  const agent = new LlmAgent({ name: 'bot', model: new ScriptedModel([{ calls: [['pay']] }, 'done']) });
  const policy = rulePolicy([{ tool: 'pay', outcome: 'ask' }]);
  const host = createHost({ app: 'shop', agents: [agent], tools: [pay], policy, store: store, warn: () => {} });
  const session = await host.open('bot', { sessionId: 's', create: true });
  expect(endOf(await say(session, 'go')).reason).toBe('input_required');
  return session;
}

describe('ATT-8 a store that calls every write outrun, and goes on itself', () => {
  test('is refused an abort after a thousand tries, and what was open is open', async () => {
    // The pauses between tries are as long as chance says.
    const chance = vi.spyOn(Math, 'random').mockReturnValue(0);
    const store = new Liar();
    const session = await asked(store);
    store.on = true;
    expect((await refusal(session.abort())).code).toBe('E_EVENT_EXISTS');
    expect(store.refused).toBe(1_000);
    store.on = false;
    expect(await session.pending()).toHaveLength(1);
    chance.mockRestore();
  });

  test.each<[ErrorCode, number, number, boolean]>([
    ['E_EVENT_EXISTS', 1, 2, true],
    ['E_EVENT_EXISTS', 999, 2, true],
    ['E_EVENT_EXISTS', 1_000, 2, false],
    // Nothing was written in between: it is there by another's hand, and will be.
    ['E_EVENT_EXISTS', 1, 1, false],
    ['E_STORE', 1, 2, false],
  ])('%s, for the %d. time, with the log at %d: goes on %s', async (code, tries, now, goesOn) => {
    const fold = { at: 1 };
    const catchUp = async () => {
      fold.at = now;
    };
    const error = new CoxswainError('ABORTED', code, 'no');
    const done = readOn({ fold, catchUp } as never, { error, at: 1, tries }).then(
      () => true,
      (thrown: unknown) => (thrown === error ? false : thrown),
    );
    expect(await done).toBe(goesOn);
  });
});
