import { expect, test } from 'vitest';
import { eventsOf, mainJob, Place, workspaceAgent } from './coxswain.ts';
import { killAll, killPoints, WHOLE } from './kill.ts';

const SEED = 20_260;

test('the kill points cover the whole of the main job', async () => {
  using place = new Place();
  const flags = ['--workspace', place.files, '--approve', 'allow', '--stream-json'];
  const { stdout } = await place.run(['run', workspaceAgent, mainJob, ...flags]);
  const events = eventsOf(stdout);
  expect({ lines: events.length, store: events.at(-1)?.seq }).toEqual(WHOLE);
});

test(`killed anywhere, nothing is lost and nothing runs twice (seed ${SEED}; npm run kill has more)`, async () => {
  const reports = await killAll(killPoints(SEED, 20), { width: 2 });
  expect(reports).toHaveLength(20);
  expect(reports.filter(({ faults }) => faults.length > 0)).toEqual([]);
  // Most of them died in the midst of it.
  expect(reports.filter(({ stored }) => stored > 0 && stored < WHOLE.store).length).toBeGreaterThan(5);
}, 180_000);
