import { readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { built } from '../packed.ts';
import { all, client } from '../websocket/kit.ts';
import { Place } from './coxswain.ts';

const module = built('mcp-agent.js');
const prompt = 'call stray {}';

describe('ATT-B10 a promise that a tool lets go of is rejected', () => {
  test('under serve: it is said and counted, and all sessions live on', async () => {
    using place = new Place();
    const running = place.start(['serve', module, '--workspace', place.desk, '--port', '0', '--store', 'memory:']);
    onTestFinished(() => void running.child.kill('SIGKILL'));
    await running.shows('"listening"');
    await running.shows('}\n');
    const { url, tokenFile } = JSON.parse(running.stdout.slice(running.stdout.indexOf('{"event"')));
    const remote = await client({ url }, readFileSync(tokenFile, 'utf8'));
    const session = await remote.open(remote.agents[0]?.name ?? '');
    for (const count of [1, 2]) {
      const events = await all(session.stream(prompt));
      expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
      await running.shows(`${count} so far`, 'stderr');
    }
    expect(running.stderr).toContain('let go');
    await remote.close();
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(0);
  });

  test('under mcp: the next call is answered', async () => {
    using place = new Place();
    const running = place.start(['mcp', module, '--store', 'memory:', '--workspace', place.desk], { stdin: 'pipe' });
    const send = (message: object) => running.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const clientInfo = { name: 'raw', version: '1' };
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } });
    for (const id of [2, 3]) {
      send({ id, method: 'tools/call', params: { name: 'puppet', arguments: { prompt } } });
      await running.shows(`"id":${id}`);
    }
    running.child.stdin?.end();
    const { code, stdout, stderr } = await running.ended;
    expect(code).toBe(0);
    expect(stdout.match(/still here/g)?.length).toBeGreaterThanOrEqual(2);
    expect(stderr).toContain('2 so far');
  });

  test('under acp: the next prompt is answered', async () => {
    using place = new Place();
    const running = place.start(['acp', module, '--store', 'memory:', '--workspace', place.desk], { stdin: 'pipe' });
    const send = (message: object) => running.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    send({ id: 1, method: 'initialize', params: { protocolVersion: 1, clientCapabilities: {} } });
    await running.shows('"id":1');
    send({ id: 2, method: 'session/new', params: { cwd: place.desk, mcpServers: [] } });
    await running.shows('"id":2');
    const sessionId = /"sessionId":"([^"]+)"/.exec(running.stdout)?.[1];
    for (const id of [3, 4]) {
      send({ id, method: 'session/prompt', params: { sessionId, prompt: [{ type: 'text', text: prompt }] } });
      await running.shows(`"id":${id}`);
    }
    running.child.stdin?.end();
    const { code, stderr } = await running.ended;
    expect(code).toBe(0);
    expect(stderr).toContain('2 so far');
  });

  test('under run: the command fails, since nobody else has a part in it', async () => {
    using place = new Place();
    const { code, stderr } = await place.run(['run', module, prompt, '--workspace', place.desk, '--store', 'memory:']);
    expect(code).toBe(1);
    expect(stderr).toContain('E_INTERNAL let go');
  });
});
