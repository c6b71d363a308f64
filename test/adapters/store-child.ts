import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { openStore } from '../../src/adapters/stores/open-store.ts';
import type { SessionKey } from '../../src/runtime/index.ts';
import { createEvent } from '../../src/runtime/index.ts';

// Another process on the same database. It speaks in lines: what it says is written before it goes on.

const [task = '', url = '', name = '', ...args] = process.argv.slice(2);
const say = (line: string | number) => writeSync(1, `${line}\n`);
const heard = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const of = (id: string): SessionKey => ({ app: 'shop', userId: 'ann', id });
const codeOf = (error: unknown) => String((error as { code?: unknown }).code);

const service = await openStore(url);
say('ready');
await heard.next();

/** An event that calls a tool, or answers the call before it, and counts in every kind of state. */
function step(seq: number) {
  const callId = `c${Math.ceil(seq / 2)}`;
  return createEvent({
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
}

switch (task) {
  // Appends unfenced, to one session or to several in turn.
  case 'contend': {
    const [times = '0', sessions = '1'] = args;
    for (let n = 0; n < Number(times); n++) {
      const id = `s${n % Number(sessions)}`;
      const stateDelta = { [`app:${name}-${n}`]: n, [`user:${name}-${n}`]: n, [`${name}-${n}`]: n };
      await service.append(of(id), [createEvent({ author: name, actions: { stateDelta } })]);
    }
    say('done');
    break;
  }
  // Adds one to a number where nobody else has written since it was read; again and again.
  case 'strict': {
    let conflicts = 0;
    for (let n = 0; n < Number(args[0]); ) {
      const record = await service.get(of('s0'), { limit: 0 });
      const stateDelta = { sum: Number(record?.state.sum ?? 0) + 1 };
      const expectedSeq = record?.lastSeq ?? -1;
      try {
        await service.append(of('s0'), [createEvent({ author: name, actions: { stateDelta } })], { expectedSeq });
        n += 1;
      } catch (error) {
        if (codeOf(error) !== 'E_SESSION_CONFLICT') throw error;
        conflicts += 1;
      }
    }
    say(conflicts);
    break;
  }
  // Starts a run, once, and says whether it could; holds it until told to end.
  case 'hold': {
    const { epoch, word } = await service.acquire(of(name)).then(
      ({ epoch }) => ({ epoch, word: `held ${epoch}` }),
      (error) => ({ epoch: -1, word: codeOf(error) }),
    );
    say(word);
    // Each word is an append under this lease.
    for (let n = 1; ; n++) {
      const { done, value } = await heard.next();
      if (done || value === 'end') break;
      const wrote = service.append(of(name), [createEvent({ author: name })], { epoch });
      say(await wrote.then(() => `wrote ${n}`, codeOf));
    }
    break;
  }
  // Appends under a lease until it is killed; says each seq that was acknowledged.
  case 'append': {
    const { epoch, lastSeq } = await service.acquire(of(name));
    for (let seq = lastSeq + 1; ; seq++) {
      await service.append(of(name), [step(seq)], { epoch });
      say(seq);
    }
  }
}
await service.close();
process.exit();
