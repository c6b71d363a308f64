import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { openSqlite } from '../../src/adapters/stores/sqlite.ts';
import { createEvent } from '../../src/runtime/index.ts';

// Another process on the same file. It speaks in lines: what it says is written before it goes on.

const [task = '', file = '', id = '', times = '0'] = process.argv.slice(2);
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
  // Appends until it is killed; says each seq that was acknowledged.
  case 'append': {
    const service = openSqlite(file);
    const { epoch, lastSeq } = await service.acquire(key);
    for (let seq = lastSeq + 1; ; seq++) {
      const callId = `c${Math.ceil(seq / 2)}`;
      const event = createEvent({
        id: `e${seq}`,
        author: 'bot',
        content: {
          role: 'model',
          parts: [
            seq % 2 === 1
              ? { type: 'function_call', id: callId, name: 'pay', args: {} }
              : { type: 'function_response', id: callId, name: 'pay', response: {} },
          ],
        },
        actions: { stateDelta: { n: seq, 'app:n': seq, [`user:${seq % 5}`]: seq } },
      });
      await service.append(key, [event], { epoch });
      say(seq);
    }
  }
  // Opens the file, waits for the word and changes shared state many times, against others who do the same.
  case 'contend': {
    const service = openSqlite(file);
    say('ready');
    await heard.next();
    for (let n = 0; n < Number(times); n++) {
      const stateDelta = { [`app:${id}-${n}`]: n, [`user:${id}-${n}`]: n, [`${id}-${n}`]: n };
      await service.append({ ...key, id: 'shared' }, [createEvent({ author: id, actions: { stateDelta } })]);
    }
    await service.close();
    say('done');
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
