import { writeSync } from 'node:fs';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import { createHost, LlmAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

// A program that works for turns that nobody holds, and whose model ends the process: as one does that fills its memory.

const [path = '', task = 'work'] = process.argv.slice(2);
const say = (line: string) => writeSync(1, `${line}\n`);
const model = new ScriptedModel([
  () => {
    say('dies');
    process.kill(process.pid, 'SIGKILL');
    return new Promise(() => {});
  },
]);
const host = createHost({
  app: 'shop',
  agents: [new LlmAgent({ name: 'bot', model })],
  store: openSqlite(path),
  warn: (message) => say(message),
});
if (task === 'submit') await host.submit('bot', 'go', { sessionId: 's', create: true });
else if (task === 'recover') {
  const { sessions, done } = await host.recover();
  await done;
  say(`recovered ${sessions.length}`);
} else {
  const work = await host.work({ lookMs: 20, maxDeaths: 3 });
  const timer = setInterval(() => {
    if (work.figures.leftAlone > 0) say(`left alone ${work.figures.leftAlone}`);
  }, 20);
  process.stdin.once('data', () => {
    clearInterval(timer);
    void host.close();
  });
}
