import { expect, test } from 'vitest';
import type { SessionPlace } from '../../src/contracts/index.ts';
import { ProcessDispatcher } from '../../src/host/background/process-dispatcher.ts';
import { bot, hostOf, notingTool, only, policyOf, say } from './kit.ts';

/** One that notes what is scheduled. */
class Noting extends ProcessDispatcher {
  readonly scheduled: [string, number][] = [];

  override schedule(place: SessionPlace, at: Date): Promise<void> {
    this.scheduled.push([place.sessionId, at.getTime()]);
    return super.schedule(place, at);
  }
}

test('MUT-H12 a question that expires has its session looked at then, by the dispatcher; one that does not has it never', async () => {
  const dispatcher = new Noting(() => {});
  const { tool } = notingTool('pay');
  const model = () => bot([{ calls: [['pay', { eur: 5 }]] }, 'done']);
  for (const expiresIn of [undefined, 600]) {
    const policy = policyOf({ pay: { outcome: 'ask', ...(expiresIn === undefined ? {} : { expiresIn }) } });
    const { host } = hostOf(model(), { tools: [tool], policy, dispatcher });
    const session = await host.open('bot', { sessionId: `s${expiresIn}`, create: true });
    await say(session, 'go');
    const { expiresAt } = await only(session);
    expect(dispatcher.scheduled).toEqual(expiresAt === undefined ? [] : [['s600', Date.parse(expiresAt)]]);
    await host.close();
  }
  await dispatcher.close();
});
