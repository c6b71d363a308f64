import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';

// Another process on the same file. It speaks in lines: what it says is written before it goes on.

const [task = '', file = '', id = ''] = process.argv.slice(2);
const key = { app: 'shop', userId: 'ann', id };
const say = (line: string | number) => writeSync(1, `${line}\n`);
const heard = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

switch (task) {
  // Takes the session and says so, or why not; then waits for its end.
  case 'hold': {
    const service = openSqlite(file);
    say(
      await service.acquire(key).then(
        ({ epoch }) => `held ${epoch}`,
        ({ code }) => code,
      ),
    );
    await heard.next();
    process.exit();
    break;
  }
  // Copies the session and says how long the copy is.
  case 'fork': {
    const service = openSqlite(file);
    say((await service.fork(key, { id: 'f' })).lastSeq);
    process.exit();
    break;
  }
  // Waits for the word, then opens a file that others open too.
  case 'open': {
    say('ready');
    await heard.next();
    const service = openSqlite(file);
    await service.create({ app: 'shop', userId: 'ann', id });
    say('open');
    process.exit();
  }
}
