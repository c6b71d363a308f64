import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventsOf, Place, puppet, sessionIn, workspaceAgent } from './coxswain.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place[Symbol.dispose]());

const talk = async (...args: string[]) => place.run(['run', puppet, ...args]);

test('a conversation goes on in its session; list, show and delete', async () => {
  expect((await place.run(['sessions', 'list'])).stderr).toContain('there are no sessions in sqlite:');
  const first = await talk('say one');
  const id = sessionIn(first.stderr);
  const second = await talk('call look {}', '--session', id);
  expect(second.code).toBe(0);
  expect(sessionIn(second.stderr)).toBe(id);

  const listed = await place.run(['sessions', 'list']);
  expect(listed.stdout).toMatch(new RegExp(`^${id} {2}\\d{4}-.* events\\n$`));
  const asJson = await place.run(['sessions', 'list', '--json']);
  expect(JSON.parse(asJson.stdout)).toMatchObject({ id, app: 'cli', pending: 0 });

  const shown = await place.run(['sessions', 'show', id]);
  expect(shown.stdout).toBe('> say one\none\n\n> call look {}\n{"content":"seen"}\n');
  expect(shown.stderr).toContain('✓ look · seen');
  const events = eventsOf((await place.run(['sessions', 'show', id, '--json'])).stdout);
  expect(events.filter((event) => event.type === 'stream_end')).toHaveLength(2);

  const deleted = await place.run(['sessions', 'delete', id]);
  expect(deleted).toMatchObject({ code: 0, stderr: `deleted ${id}\n` });
  for (const verb of ['show', 'delete']) {
    const gone = await place.run(['sessions', verb, id]);
    expect(gone.code).toBe(1);
    expect(gone.stderr).toContain('E_SESSION_NOT_FOUND');
  }
});

test('a session that runs is neither deleted nor run twice', async () => {
  const running = place.start(['run', puppet, 'hang', '--stream-json']);
  await running.shows('hanging');
  const id = sessionIn(running.stderr);
  const deleted = await place.run(['sessions', 'delete', id]);
  expect(deleted.code).toBe(1);
  expect(deleted.stderr).toContain('coxswain: E_SESSION_BUSY');
  const second = await talk('say me too', '--session', id);
  expect(second.code).toBe(1);
  expect(second.stderr).toContain('coxswain: E_SESSION_BUSY');
  running.child.kill('SIGINT');
  expect((await running.ended).code).toBe(130);
  expect((await talk('say now', '--session', id)).stdout).toBe('now\n');
});

test('users do not see into each other', async () => {
  const { stderr } = await talk('say one', '--user', 'anna');
  const id = sessionIn(stderr);
  expect((await talk('say two', '--session', id, '--user', 'bert')).stderr).toContain('E_SESSION_NOT_FOUND');
  expect((await place.run(['sessions', 'show', id, '--user', 'anna'])).code).toBe(0);
});

test('a session of another agent is refused', async () => {
  const { stderr } = await talk('say one');
  const other = await place.run(['run', workspaceAgent, 'help', '--session', sessionIn(stderr)]);
  expect(other.code).toBe(1);
  expect(other.stderr).toContain('E_AGENT_UNKNOWN');
});
