// The crowd of `crowd.ts` with @google/adk: `node bench/peer-crowd.ts FILE`, the file of its entry point.
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { DELTAS, SESSIONS } from './crowd-size.ts';

/** What is used of it here. */
interface Adk {
  BaseLlm: new (config: { model: string }) => object;
  LlmAgent: new (config: { name: string; model: object }) => object;
  InMemoryRunner: new (config: {
    agent: object;
    appName: string;
  }) => {
    sessionService: { createSession(of: { appName: string; userId: string }): Promise<{ id: string }> };
    runAsync(request: object): AsyncIterable<object>;
  };
  StreamingMode: { SSE: unknown };
  LogLevel: { ERROR: number };
  setLogLevel(level: number): void;
}

const [file = ''] = process.argv.slice(2);
const adk = (await import(pathToFileURL(file).href)) as unknown as Adk;
adk.setLogLevel(adk.LogLevel.ERROR);

class SlowTalker extends adk.BaseLlm {
  async *generateContentAsync() {
    for (let n = 0; n < DELTAS; n++) {
      await sleep(1);
      yield { partial: true, content: { role: 'model', parts: [{ text: 'word ' }] } };
    }
    yield { content: { role: 'model', parts: [{ text: 'word '.repeat(DELTAS) }] }, turnComplete: true };
  }
}

const agent = new adk.LlmAgent({ name: 'agent', model: new SlowTalker({ model: 'slow talker' }) });
const runner = new adk.InMemoryRunner({ agent, appName: 'bench' });
let seen = 0;

async function one(): Promise<void> {
  const { id: sessionId } = await runner.sessionService.createSession({ appName: 'bench', userId: 'local' });
  const newMessage = { role: 'user', parts: [{ text: 'go' }] };
  const runConfig = { streamingMode: adk.StreamingMode.SSE };
  for await (const _ of runner.runAsync({ userId: 'local', sessionId, newMessage, runConfig })) seen++;
}

const start = performance.now();
await Promise.all(Array.from({ length: SESSIONS }, one));
const ms = performance.now() - start;
if (seen !== SESSIONS * (DELTAS + 1)) throw new Error(`@google/adk showed ${seen} events`);
console.log(JSON.stringify({ ms, mb: process.resourceUsage().maxRSS / 1024 }));
