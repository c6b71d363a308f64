import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { subagentTool } from '../../src/host/index.ts';
import type { McpServeOptions } from '../../src/host/mcp/index.ts';
import { createMcpHttp } from '../../src/host/mcp/index.ts';
import type { Call } from '../../src/host/mcp/tasks/handed-calls.ts';
import { HandedCalls } from '../../src/host/mcp/tasks/handed-calls.ts';
import { createHost, fromAgent, LlmAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { payTool, puppet, puppetModel } from './agents.ts';
import { connect, textOf } from './clients.ts';
import { openShop } from './kit.ts';
import type { TaskCaller } from './task-client.ts';
import { ask, call, cancel, get, once, TASKS, task, toAll, update } from './task-client.ts';

/** Every call is one from its first event on: nothing here waits for a while. */
const required = { tasks: { support: { puppet: 'required' } } } as const;
const unasked: TaskCaller = { capabilities: { extensions: { [TASKS]: {} } } };
const pay = 'call pay {"amount": 5}';
const byName: McpServeOptions['authenticate'] = (request) => ({
  id: request.headers.get('authorization')?.slice('Bearer '.length) ?? '',
});

describe('a call that runs long', () => {
  test('MCT-01 is a task once it has taken its time: it works, and then has what the call would have answered', async () => {
    await using shop = await openShop({ mcp: { tasks: { afterMs: 1 } } });
    const made = await task(shop.url, 'call wait {}');
    expect(made).toMatchObject({ status: 'working', ttlMs: null, pollIntervalMs: 1000 });
    for (const name of ['result', 'error', 'inputRequests', 'requestState']) expect(made).not.toHaveProperty(name);
    await shop.waiting.started;
    expect(await get(shop.url, made.taskId)).toMatchObject({ resultType: 'complete', status: 'working' });
    shop.waiting.release();
    const done = await once(shop.url, made.taskId, 'completed');
    expect(done.createdAt).toBe(made.createdAt);
    expect(Date.parse(done.lastUpdatedAt)).toBeGreaterThanOrEqual(Date.parse(done.createdAt));
    expect(done.result && textOf(done.result)).toBe('got {"content":"waited"}');
    // Its result stays.
    expect((await get(shop.url, made.taskId)).result).toEqual(done.result);
  });

  test('MCT-02 is none that ends soon, nor one of a client that knows no tasks, nor where there are none', async () => {
    await using shop = await openShop();
    expect(await call(shop.url, 'say hello')).toMatchObject({
      resultType: 'complete',
      content: [{ text: 'hello' }, {}],
    });
    await using soon = await openShop({ mcp: { tasks: { afterMs: 1 } } });
    soon.waiting.release();
    const other = { capabilities: { elicitation: {} } };
    expect(await call(soon.url, 'call wait {}', other)).toMatchObject({ resultType: 'complete' });
    await using client = await connect('v2', soon, { pinned: true });
    expect(textOf(await client.call('puppet', { prompt: 'call wait {}' }))).toBe('got {"content":"waited"}');
    await using none = await openShop({ mcp: { tasks: false } });
    expect((await ask(none.url, 'server/discover', {})).result?.capabilities).not.toHaveProperty('extensions');
    expect((await ask(none.url, 'tasks/get', { taskId: 'x' })).error?.code).toBe(-32_601);
    expect((await ask(shop.url, 'server/discover', {})).result?.capabilities).toMatchObject({
      extensions: { [TASKS]: {} },
    });
  });

  test('MCT-03 of an agent whose calls are tasks only is refused to a client that knows none, and runs nothing', async () => {
    await using shop = await openShop({ mcp: required });
    const other = { capabilities: {} };
    const data = { requiredCapabilities: { extensions: { [TASKS]: {} } } };
    const params = { name: 'puppet', arguments: { prompt: 'say x' } };
    expect((await ask(shop.url, 'tools/call', params, other)).error).toMatchObject({ code: -32_021, data });
    expect(await shop.host.sessions().list()).toEqual([]);
    const made = await task(shop.url, 'say x');
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      expect((await ask(shop.url, method, { taskId: made.taskId, inputResponses: {} }, other)).error?.code).toBe(
        -32_021,
      );
    }
    expect((await once(shop.url, made.taskId, 'completed')).result?.content[0]?.text).toBe('x');
  });

  test('MCT-04 that fails is completed, with the error of its result; what its host breaks is failed', async () => {
    await using shop = await openShop({ mcp: required });
    const failed = await once(shop.url, (await task(shop.url, 'fail')).taskId, 'completed');
    expect(failed.result).toMatchObject({ isError: true });
    const panics = new LlmAgent({
      ...{ name: 'puppet', description: 'Its hook panics.', model: puppetModel },
      beforeModel: () => {
        throw new Error('a hook panics');
      },
    });
    await using broken = await openShop({ mcp: required, agents: [panics] });
    const { taskId } = await task(broken.url, 'say x');
    const state = await once(broken.url, taskId, 'failed');
    expect(state.error).toMatchObject({ code: -32_603, message: expect.stringContaining('E_HOOK_FAILED') });
    expect(state).not.toHaveProperty('result');
  });

  test('MCT-05 of one principal beyond the bound stays a call: its request is open until it has ended', async () => {
    await using shop = await openShop({ mcp: { authenticate: byName, tasks: { afterMs: 1, maxRunning: 1 } } });
    const anna = { token: 'anna' };
    const first = await task(shop.url, 'call wait {}', anna);
    const second = call(shop.url, 'call wait {}', anna);
    // Somebody else has places of their own.
    await task(shop.url, 'call wait {}', { token: 'ben' });
    shop.waiting.release();
    expect(await second).toMatchObject({ resultType: 'complete' });
    await once(shop.url, first.taskId, 'completed', anna);
    await task(shop.url, 'hang', anna);
  });

  test('ATK7-06 several calls that wait for one and the same turn take a place each, and so do calls that become tasks at once', async () => {
    await using shop = await openShop({ mcp: { authenticate: byName, tasks: { afterMs: 1, maxRunning: 3 } } });
    const anna = { token: 'anna' };
    const first = await task(shop.url, 'call wait {}', anna);
    const [, sessionId] = JSON.parse(Buffer.from(first.taskId, 'base64url').toString()) as string[];
    const params = { name: 'puppet', arguments: { session_id: sessionId } };
    let tasks = 0;
    const calls = Array.from({ length: 8 }, async () => {
      const { result } = await ask(shop.url, 'tools/call', params, anna);
      if (result?.resultType === 'task') tasks++;
      return result;
    });
    await expect.poll(() => tasks).toBe(2);
    // Somebody else has places of their own.
    await task(shop.url, 'call wait {}', { token: 'ben' });
    expect(tasks).toBe(2);
    shop.waiting.release();
    const ended = await Promise.all(calls);
    // A place that was given back may have been taken by a call that was slow to come.
    expect(ended.filter((result) => result?.resultType === 'complete')).toHaveLength(8 - tasks);
    await once(shop.url, first.taskId, 'completed', anna);
  });

  test('ATK7-06 a call whose task is being made has its place already; one whose task cannot be made gives it back', async () => {
    const handed = new HandedCalls(1, () => {});
    const never: Call = (_, { begun }) => {
      begun('s', 't');
      return new Promise(() => {});
    };
    const short: Call = async (_, { begun }) => {
      begun('s', 't');
      // Its timer is behind the one after which a call becomes a task.
      await new Promise((resolve) => setTimeout(resolve, 50));
      return { content: [] };
    };
    const context = () => ({ mcpReq: { signal: new AbortController().signal, notify: async () => {} } }) as never;
    const { promise, resolve } = Promise.withResolvers<{ key: string; task: string }>();
    const asked = Promise.withResolvers<void>();
    const seed = () => {
      asked.resolve();
      return promise;
    };
    const slow = { afterMs: 1, owner: 'anna', seed };
    const first = handed.make(context(), never, slow);
    await asked.promise;
    expect(await handed.make(context(), short, slow)).toEqual({ outcome: { content: [] } });
    resolve({ key: 'k', task: 'made' });
    expect(await first).toEqual({ task: 'made' });
    const other = { afterMs: 1, owner: 'ben', seed: async () => Promise.reject(new Error('the store is away')) };
    await expect(handed.make(context(), never, other)).rejects.toThrow('the store is away');
    const again = { afterMs: 1, owner: 'ben', seed: async () => ({ key: 'b', task: 'made' }) };
    expect(await handed.make(context(), never, again)).toEqual({ task: 'made' });
  });

  test('ATK7-15 of a session that was deleted and made again the former tasks are no more, wherever they stood', async () => {
    await using shop = await openShop({ mcp: { ...required, authenticate: byName } });
    const anna = { token: 'anna' };
    const first = await task(shop.url, 'say one', anna);
    const [, sessionId = ''] = JSON.parse(Buffer.from(first.taskId, 'base64url').toString()) as string[];
    await once(shop.url, first.taskId, 'completed', anna);
    const second = await task(shop.url, 'say two', anna, { session_id: sessionId });
    await once(shop.url, second.taskId, 'completed', anna);
    await shop.host.sessions('anna').delete(sessionId);
    for (const { taskId } of [first, second]) {
      expect((await ask(shop.url, 'tasks/get', { taskId }, anna)).error?.code).toBe(-32_602);
    }
    await using again = await shop.host.open('puppet', { sessionId, userId: 'anna', create: true });
    for await (const _ of again.stream('say three')) break;
    for (const { taskId } of [first, second]) {
      for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
        const { error } = await ask(shop.url, method, { taskId, inputResponses: {} }, anna);
        expect(error).toMatchObject({ code: -32_602, message: 'there is no task of this id, or no more' });
      }
    }
  });

  test('ATK7-15 the same where it has more turns than before, and the newest task is asked for first; new tasks are found', async () => {
    await using shop = await openShop({ mcp: { ...required, authenticate: byName } });
    const anna = { token: 'anna' };
    const made = [await task(shop.url, 'say one', anna)];
    const [, sessionId = ''] = JSON.parse(Buffer.from(made[0]?.taskId ?? '', 'base64url').toString()) as string[];
    for (const words of ['say two', 'say three']) {
      await once(shop.url, made.at(-1)?.taskId ?? '', 'completed', anna);
      made.push(await task(shop.url, words, anna, { session_id: sessionId }));
    }
    await once(shop.url, made.at(-1)?.taskId ?? '', 'completed', anna);
    await shop.host.sessions('anna').delete(sessionId);
    await using again = await shop.host.open('puppet', { sessionId, userId: 'anna', create: true });
    for (let n = 0; n < 8; n++) for await (const _ of again.stream('say more'));
    for (const { taskId } of made.toReversed()) {
      const { error } = await ask(shop.url, 'tasks/get', { taskId }, anna);
      expect(error).toMatchObject({ code: -32_602, message: 'there is no task of this id, or no more' });
    }
    const { taskId } = await task(shop.url, 'say last', anna, { session_id: sessionId });
    expect((await once(shop.url, taskId, 'completed', anna)).result?.content[0]?.text).toBe('last');
    expect((await ask(shop.url, 'tasks/get', { taskId: made[0]?.taskId }, anna)).error?.code).toBe(-32_602);
  });

  test('MCT-06 whose caller leaves before it is a task is aborted; after that nobody has to be there', async () => {
    await using shop = await openShop({ mcp: { tasks: { afterMs: 60_000 } } });
    const leaves = new AbortController();
    const left = call(shop.url, 'call wait {}', { signal: leaves.signal });
    await shop.waiting.started;
    leaves.abort();
    await expect(left).rejects.toThrow();
    expect(await shop.waiting.ended).toBe('aborted');
  });
});

describe('a task that waits for somebody', () => {
  test('MCT-07 says what it asks; a yes to what it shows runs the tool once, however often it comes', async () => {
    await using shop = await openShop({ mcp: required });
    const { taskId } = await task(shop.url, pay);
    const asked = await once(shop.url, taskId, 'input_required');
    const [[key, request] = ['', undefined]] = Object.entries(asked.inputRequests ?? {});
    expect(request).toMatchObject({
      method: 'elicitation/create',
      params: { message: expect.stringContaining('pays 5 euro') },
    });
    // Keys that were never given, and answers that are none.
    const others = { other: { action: 'accept' }, [`${key}x`]: toAll(asked, 'allow')[key], [key]: { ignored: true } };
    expect(await update(shop.url, taskId, others)).toMatchObject({ resultType: 'complete' });
    expect((await get(shop.url, taskId)).inputRequests).toEqual(asked.inputRequests);
    expect(shop.runs).toEqual([]);
    const acks = await Promise.all([1, 2, 3].map(() => update(shop.url, taskId, toAll(asked, 'allow'))));
    for (const ack of acks) expect(ack).not.toHaveProperty('taskId');
    expect((await once(shop.url, taskId, 'completed')).result?.content[0]?.text).toBe('got {"content":"paid 5"}');
    await update(shop.url, taskId, toAll(asked, 'deny'));
    expect(shop.runs).toEqual([5]);
  });

  test('MCT-08 of two questions one is answered: the other one is still asked, alone', async () => {
    await using shop = await openShop({ mcp: required });
    const { taskId } = await task(shop.url, 'call pay {"amount": 1} pay {"amount": 2}');
    const asked = await once(shop.url, taskId, 'input_required');
    const [[one, first] = [], ...rest] = Object.entries(toAll(asked, 'allow'));
    expect(rest).toHaveLength(1);
    await update(shop.url, taskId, { [String(one)]: first });
    const still = await get(shop.url, taskId);
    expect(still).toMatchObject({ status: 'input_required' });
    expect(Object.keys(still.inputRequests ?? {})).toEqual(rest.map(([key]) => key));
    await update(shop.url, taskId, toAll(still, 'deny'));
    await once(shop.url, taskId, 'completed');
    expect(shop.runs).toHaveLength(1);
  });

  test('MCT-09 a caller that cannot be asked gets a task rather than an error, and is told who can; settled elsewhere it goes on', async () => {
    await using shop = await openShop({ mcp: { tasks: { afterMs: 60_000 } } });
    const { taskId } = await task(shop.url, pay, unasked);
    const waits = await get(shop.url, taskId, unasked);
    expect(waits).toMatchObject({ status: 'working', pollIntervalMs: 5000 });
    expect(waits.statusMessage).toMatch(/cannot ask its user[\s\S]*coxswain approvals approve/);
    expect(waits).not.toHaveProperty('inputRequests');
    const [open] = await shop.host.approvals.list();
    if (!open) throw new Error('nothing is open');
    const { agent, userId, request } = open;
    const { sessionId } = request;
    const place = { agent, userId, sessionId, by: { id: 'local' } };
    await shop.host.approvals.decide(request.requestId, { kind: 'approve' }, place);
    await once(shop.url, taskId, 'completed', unasked);
    expect(shop.runs).toEqual([5]);
  });

  test('MCT-10 a client that can be asked is asked before there is a task; what takes long after its answer is one', async () => {
    const stateKey = 'a secret of at least thirty-two bytes';
    await using shop = await openShop({ mcp: { stateKey, tasks: { afterMs: 60_000 } } });
    const params = { name: 'puppet', arguments: { prompt: pay } };
    const { result: asked } = await ask(shop.url, 'tools/call', params);
    expect(asked).toMatchObject({ resultType: 'input_required' });
    expect(asked).not.toHaveProperty('taskId');
    const other = await createMcpHttp(shop.host, { ...required, stateKey });
    const server = createServer((request, response) => void other.node(request, response)).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const requestState = asked?.requestState;
    const again = { ...params, requestState, inputResponses: asked && toAll(asked, 'allow') };
    const { result: made } = await ask(url, 'tools/call', again);
    expect(made).toMatchObject({ resultType: 'task' });
    expect(made).not.toHaveProperty('requestState');
    await once(url, String(made?.taskId), 'completed');
    expect(shop.runs).toEqual([5]);
    await other.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});

/** An agent that has another one pay, which has a turn of its own. */
const bossed = (runs: unknown[]) => {
  const payer = new LlmAgent({
    ...{ name: 'payer', description: 'Pays.' },
    model: new ScriptedModel([{ calls: [['pay', { amount: 5 }]] }, 'paid']),
  });
  const model = new ScriptedModel([{ calls: [['payer', { request: 'go' }]] }, 'done']);
  const boss = new LlmAgent({ name: 'puppet', description: 'Has others pay.', model });
  return { agents: [boss], runs, host: { tools: [payTool(runs), subagentTool(fromAgent(payer))] } };
};

/** Says yes to whatever it asks, until it has ended. */
async function allowing(url: string, taskId: string) {
  for (;;) {
    const state = await get(url, taskId);
    if (state.status === 'completed') return state;
    if (state.status === 'input_required') await update(url, taskId, toAll(state, 'allow'));
    else await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('what a sub-agent asks', () => {
  test('MCT-17 is asked in the task of its caller, and its answer reaches it', async () => {
    const runs: unknown[] = [];
    await using shop = await openShop({ ...bossed(runs), mcp: required });
    const { taskId } = await task(shop.url, 'go');
    expect((await allowing(shop.url, taskId)).result?.content[0]?.text).toBe('done');
    expect(runs).toEqual([5]);
  });

  test('MCT-18 and is answered twice without a task: the second caller gets what came of it, too', async () => {
    const runs: unknown[] = [];
    await using shop = await openShop({ ...bossed(runs), mcp: { tasks: false } });
    let params: Record<string, unknown> = { name: 'puppet', arguments: { prompt: 'go' } };
    let answer = (await ask(shop.url, 'tools/call', params)).result;
    while (answer?.resultType === 'input_required') {
      params = { ...params, requestState: answer.requestState, inputResponses: toAll(answer, 'allow') };
      answer = (await ask(shop.url, 'tools/call', params)).result;
    }
    expect(answer?.content?.[0]?.text).toBe('done');
    expect((await ask(shop.url, 'tools/call', params)).result?.content?.[0]?.text).toBe('done');
    expect(runs).toEqual([5]);
  });
});

describe('a task that is cancelled', () => {
  test('MCT-11 while it works or waits is cancelled, and runs nothing more; again, and it stays so', async () => {
    await using shop = await openShop({ mcp: required });
    const working = await task(shop.url, 'call wait {}');
    await shop.waiting.started;
    const ack = await cancel(shop.url, working.taskId);
    for (const name of ['taskId', 'status', 'result']) expect(ack).not.toHaveProperty(name);
    expect(await shop.waiting.ended).toBe('aborted');
    await once(shop.url, working.taskId, 'cancelled');
    const waiting = await task(shop.url, pay);
    const asked = await once(shop.url, waiting.taskId, 'input_required');
    await cancel(shop.url, waiting.taskId);
    await once(shop.url, waiting.taskId, 'cancelled');
    await update(shop.url, waiting.taskId, toAll(asked, 'allow'));
    await cancel(shop.url, waiting.taskId);
    expect(await get(shop.url, waiting.taskId)).toMatchObject({ status: 'cancelled' });
    expect(shop.runs).toEqual([]);
    expect(await shop.host.approvals.list()).toEqual([]);
  });

  test('MCT-12 after its end keeps its result, and what its session does meanwhile goes on', async () => {
    await using shop = await openShop({ mcp: required });
    const first = await task(shop.url, 'say one');
    const done = await once(shop.url, first.taskId, 'completed');
    const session_id = String(done.result?._meta?.['coxswain/sessionId']);
    const second = await task(shop.url, 'call wait {}', {}, { session_id });
    await shop.waiting.started;
    await cancel(shop.url, first.taskId);
    expect((await get(shop.url, second.taskId)).status).toBe('working');
    expect(await get(shop.url, first.taskId)).toEqual(done);
    shop.waiting.release();
    expect((await once(shop.url, second.taskId, 'completed')).result?.content[0]?.text).toContain('waited');
  });
});

describe('an id of a task', () => {
  const idOf = (parts: unknown) => Buffer.from(JSON.stringify(parts)).toString('base64url');

  test("MCT-13 that is somebody else's, made up, or of a session that is gone is one and the same: there is none", async () => {
    await using shop = await openShop({ mcp: { ...required, authenticate: byName } });
    const anna = { token: 'anna' };
    const { taskId } = await task(shop.url, pay, anna);
    const asked = await once(shop.url, taskId, 'input_required', anna);
    const [agent, session, turn] = JSON.parse(Buffer.from(taskId, 'base64url').toString()) as string[];
    const none = { code: -32_602, message: 'there is no task of this id, or no more' };
    const forged = [
      ['', anna],
      ['made-up', anna],
      ['x'.repeat(5000), anna],
      [`${taskId}=`, anna],
      [idOf([agent, session, 'another-turn']), anna],
      [idOf([agent, 'another-session', turn]), anna],
      [idOf(['another', session, turn]), anna],
      [idOf([agent, '../../etc/passwd', turn]), anna],
      [idOf([agent, session, { $ne: 1 }]), anna],
      [idOf([agent, session]), anna],
      [taskId, { token: 'ben' }],
    ] as const;
    for (const [id, caller] of forged) {
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
        const params = { taskId: id, inputResponses: toAll(asked, 'allow') };
        expect((await ask(shop.url, method, params, caller)).error, `${method} ${id}`).toMatchObject(none);
      }
    }
    expect(await get(shop.url, taskId, anna)).toEqual(asked);
    expect(shop.runs).toEqual([]);
    await shop.host.sessions('anna').delete(String(session));
    expect((await ask(shop.url, 'tasks/get', { taskId }, anna)).error).toMatchObject(none);
  });

  test('MCT-14 that is no text is refused as what it is', async () => {
    await using shop = await openShop();
    for (const taskId of [undefined, 7, null, {}]) {
      expect((await ask(shop.url, 'tasks/get', { taskId: taskId as never })).error?.code).toBeLessThan(-32_000);
    }
  });
});

describe('tasks of agents', () => {
  test.each([
    ['an agent that is none', { tasks: { support: { nobody: 'optional' } } }, /tasks\.support has nobody/],
    ['a word that is none', { tasks: { support: { puppet: 'always' } } }, /one of forbidden, optional, required/],
    ['no time', { tasks: { afterMs: -1 } }, /afterMs/],
    ['what is none', { tasks: { after: 1 } }, /after is not known/],
    ['true', { tasks: true }, /tasks/],
  ])('MCT-15 %s is refused', async (_, options, words) => {
    const host = createHost({ app: 'shop', agents: [puppet()] });
    await expect(createMcpHttp(host, options as never)).rejects.toThrow(words);
  });

  test('MCT-16 whose sessions end with their process are none: they are forbidden, and may not be said to be others', async () => {
    const source = fromAgent(puppet());
    const capabilities = source.descriptor.capabilities.filter((name) => name !== 'resume');
    const passing = { ...source, descriptor: { ...source.descriptor, capabilities } };
    const host = createHost({ app: 'shop', agents: [passing] });
    await expect(createMcpHttp(host, required)).rejects.toThrow(/cannot be opened again/);
    await using shop = await openShop({ agents: [passing], mcp: { tasks: { afterMs: 1 } } });
    shop.waiting.release();
    expect(await call(shop.url, 'call wait {}')).toMatchObject({ resultType: 'complete' });
  });
});
