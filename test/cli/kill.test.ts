import { expect, test } from 'vitest';
import { eventsOf, mainJob, Place, sessionIn, workspaceAgent } from './coxswain.ts';
import { killAll, killPoints, lost, readLog, sound, WHOLE } from './kill.ts';

const SEED = 20_260;

test('the kill points cover the whole of the main job, and its judge sees what is wrong', async () => {
  using place = new Place();
  const flags = ['--workspace', place.files, '--approve', 'allow', '--stream-json', '--store', 'sqlite:kill.db'];
  const { stdout, stderr } = await place.run(['run', workspaceAgent, mainJob, ...flags]);
  const events = eventsOf(stdout);
  expect({ lines: events.length, store: events.at(-1)?.seq }).toEqual(WHOLE);

  const id = sessionIn(stderr);
  const log = await readLog(place, id);
  expect([...sound(log), ...lost(events, log, id)]).toEqual([]);
  const gap = log.toSpliced(7, 1);
  expect(sound(gap)).toContain('seq 9 stands at place 8');
  expect(lost(events, gap, id)).toEqual([expect.stringMatching(/^tool_response .* was shown and is lost$/)]);
  const start = log.findIndex(({ actions }) => (actions.started ?? []).length > 0);
  const twice = log.toSpliced(start, 0, log[start]!).map((event, index) => ({ ...event, seq: index + 1 }));
  expect(sound(twice)).toEqual([expect.stringMatching(/was started 2 times without being asked$/)]);
  const again = [...log, { ...log[start]!, seq: log.length + 1 }];
  expect(sound(again)).toContainEqual(expect.stringMatching(/was started after its result$/));
});

test(`killed anywhere, nothing is lost and nothing runs twice (seed ${SEED}; npm run kill has more)`, async () => {
  const reports = await killAll(killPoints(SEED, 20), { width: 2 });
  expect(reports).toHaveLength(20);
  expect(reports.filter(({ faults }) => faults.length > 0)).toEqual([]);
  // Most of them died in the midst of it.
  expect(reports.filter(({ stored }) => stored > 0 && stored < WHOLE.store).length).toBeGreaterThan(5);
}, 180_000);
