import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { openStore } from '../../src/adapters/stores/open-store.ts';
import type { ContentPart } from '../../src/contracts/index.ts';
import type { SessionKey } from '../../src/runtime/index.ts';
import { createEvent } from '../../src/runtime/index.ts';

// Another process on the same database, or on one after the other. It is told what to do in lines, and speaks in lines: what it says is written
// before it goes on.

const [url = '', name = ''] = process.argv.slice(2);
const say = (line: string | number) => writeSync(1, `${line}\n`);
const of = (id: string): SessionKey => ({ app: 'shop', userId: 'ann', id });
const codeOf = (error: unknown) => String((error as { code?: unknown }).code);

/** An event that calls a tool, or many times, or answers what the one before it called; it counts in every kind of state. */
function step(seq: number) {
  const pair = Math.ceil(seq / 2);
  const parts = Array.from({ length: pair % 3 === 0 ? 300 : 1 }, (_, n): ContentPart => {
    const of = { id: `c${pair}-${n}`, name: 'pay' };
    return seq % 2 === 1
      ? { type: 'function_call', ...of, args: {} }
      : { type: 'function_response', ...of, response: {} };
  });
  return createEvent({
    id: `e${seq}`,
    author: 'bot',
    content: { role: 'model', parts },
    actions: { stateDelta: { n: seq, 'app:n': seq, [`user:${seq % 5}`]: seq } },
  });
}

let service = await openStore(url || 'memory:');
let epoch = -1;

const tasks: Record<string, (...args: string[]) => Promise<string | number>> = {
  /** Leaves its database for another one. */
  async open(another = '') {
    await service.close();
    service = await openStore(another);
    return 'open';
  },
  /** Appends unfenced, to one session or to several in turn. */
  async contend(times, sessions = '1') {
    for (let n = 0; n < Number(times); n++) {
      const id = `s${n % Number(sessions)}`;
      // Shared state grows with each delta, and each write of it writes all of it.
      const shared = n % 10 === 0 ? { [`app:${name}-${n}`]: n, [`user:${name}-${n}`]: n } : {};
      const stateDelta = { ...shared, [`${name}-${n}`]: n };
      await service.append(of(id), [createEvent({ author: name, actions: { stateDelta } })]);
    }
    return 'done';
  },
  /** Adds one to a number where nobody else has written since it was read; again and again. */
  async strict(times) {
    let conflicts = 0;
    for (let n = 0; n < Number(times); ) {
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
    return conflicts;
  },
  /** Starts a run, once, and says whether it could; holds it until its end. */
  async hold(id = '') {
    try {
      ({ epoch } = await service.acquire(of(id)));
      return `held ${epoch}`;
    } catch (error) {
      return codeOf(error);
    }
  },
  /** One append under the lease that it holds. */
  async write(id = '') {
    return service.append(of(id), [createEvent({ author: name })], { epoch }).then(() => 'wrote', codeOf);
  },
  /** Appends under a lease until it is killed; says each seq that was acknowledged. */
  async append(id = '') {
    const lease = await service.acquire(of(id));
    for (let seq = lease.lastSeq + 1; ; seq++) {
      await service.append(of(id), [step(seq)], { epoch: lease.epoch });
      say(seq);
    }
  },
  /** Begins copies of a session under these names and ends none of them; in the middle of the last it says so and stands still. */
  async halve(id = '', ...names) {
    for (const each of names) {
      const own = each === names.at(-1) ? service : await openStore(url);
      let pages = 0;
      const see = () => {
        if (++pages < 2) return;
        // Whoever closes takes nothing away any more.
        if (own !== service) return void own.close();
        say('half');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      };
      const settle = Object.assign(() => [], { inPages: () => ({ see, end: () => [] }) });
      await own.fork(of(id), { id: each, settle }).catch(() => {});
    }
    return 'whole';
  },
  /** Copies a session, over and over, until it is killed; says each copy that is there. */
  async fork(id = '', copy = '') {
    for (let n = 1; ; n++) {
      await service.fork(of(id), { id: `${copy}${n}` });
      say(n);
    }
  },
  /** Saves versions of one file, and takes in what a session said. */
  async save(times) {
    const versions: number[] = [];
    for (let n = 0; n < Number(times) && 'artifacts' in service; n++) {
      const { artifacts } = service as unknown as import('../../src/adapters/stores/sql/index.ts').SqlSessionService;
      versions.push(await artifacts.save(of('s0'), 'report', { mimeType: 'text/plain', data: Buffer.from(name) }));
    }
    return versions.join(' ');
  },
};

say('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const [task = '', ...args] = line.split(' ');
  say((await tasks[task]?.(...args)) ?? 'unknown');
}
await service.close();
process.exit();
