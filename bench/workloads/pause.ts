import type { AgentSession, PendingRequest } from '../../src/index.ts';
import { barePause } from '../floor.ts';
import { cpuLoop, inTurn, timed } from '../measure.ts';
import { caller } from '../models.ts';
import { row } from '../result.ts';
import { play, sessionsOf } from '../subjects.ts';
import { adder, ask } from '../tools.ts';
import type { Workload } from '../workload.ts';

const add = ({ a, b }: { a: number; b: number }) => a + b;

export const pause: Workload = {
  title: 'approval pause, session opened again from its store, yes, end',
  // Each iteration runs most of the program a few times: the compiler is busy with it for long.
  plan: { warmUp: 6000, iterations: 3000 },
  async measure(subject, plan) {
    const model = caller({ steps: 1 });
    const sessions = sessionsOf(subject, { model, tools: [adder(add)], policy: ask });
    const stored = new Map<string, string>();
    const medians = await inTurn(plan, {
      loop: cpuLoop,
      floor: () => timed(() => barePause(model, stored, add)),
      async subject() {
        const start = performance.now();
        const session = await sessions.open();
        await play(session, 'go', 'input_required');
        await session[Symbol.asyncDispose]();
        const again = await sessions.reopen(session.id);
        await approve(again);
        await play(again, { kind: 'continue' });
        const time = performance.now() - start;
        await sessions.discard(again);
        return time;
      },
    });
    return [
      row({
        workload: 'W6',
        subject,
        measure: 'pause to end',
        unit: 'ms',
        value: medians.subject,
        floor: medians.floor,
        loop: medians.loop,
        peer: '0.63 ms',
        target: { limit: subject === 'hosted' ? 0.3 : 0.2, of: 'value' },
        samples: plan.iterations,
      }),
    ];
  },
};

async function approve(session: AgentSession): Promise<void> {
  const [request, ...others]: PendingRequest[] = await session.pending();
  if (!request || others.length > 0) throw new Error('one request should be open');
  await session.respond(request.requestId, { kind: 'elicitation', action: 'accept' });
}
