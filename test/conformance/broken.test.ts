import { expect, test } from 'vitest';
import { judge, requirements } from '../../src/conformance/index.ts';
import { targetOf } from './broken/bend.ts';
import { broken } from './broken/index.ts';

test('there is one broken executor for each requirement', () => {
  expect(broken.map(({ id }) => id).sort()).toEqual(requirements.map(({ id }) => id).sort());
});

// Most of the time is spent waiting: for a question to expire, for a model.
test.concurrent.each(broken)('$id: $how, and nothing else fails', async (executor) => {
  // Over HTTP a check takes longer: judged is what only the wire can show.
  const judged = executor.send ? requirements.filter(({ id }) => id.includes('MODEL')) : requirements;
  // Side by side, too: each has an executor of its own.
  const findings = await Promise.all(judged.map((requirement) => judge(requirement, targetOf(executor))));
  // How fast an abort is depends on the machine: told of its own broken executor only.
  const counts = findings.filter(({ id }) => id !== 'CX-ABORT-07' || executor.id === id);
  expect(counts.filter(({ status }) => status === 'failed').map(({ id, status }) => `${id} ${status}`)).toEqual([
    `${executor.id} failed`,
  ]);
});
