import type { Model, ModelRequest, ModelResponse } from '../src/index.ts';

const request: ModelRequest = {
  model: '',
  systemInstruction: '',
  contents: [],
  config: {},
  tools: new Map(),
  agent: '',
};
const options = { stream: true, signal: new AbortController().signal };

export type Handler = (args: { a: number; b: number }) => unknown;

/**
 * The least that a turn can cost: the model's generator read with `for await`, an array as log, tools called
 * directly.
 */
export async function bareTurn(model: Model, log: unknown[], handler?: Handler): Promise<void> {
  log.push({ role: 'user', text: 'go' });
  for (;;) {
    let last: ModelResponse | undefined;
    for await (const frame of model.generate(request, options)) {
      log.push(frame);
      last = frame;
    }
    const calls = last?.content?.parts.filter((part) => part.type === 'function_call') ?? [];
    if (calls.length === 0 || !handler) return;
    const results = calls.map(async ({ args }) => ({ result: await handler(args as { a: number; b: number }) }));
    log.push(...(await Promise.all(results)));
  }
}

/** The least that an approval can cost: the log as text in a map, read back, the tool called, the model asked again. */
export async function barePause(model: Model, stored: Map<string, string>, handler: Handler): Promise<void> {
  const log: unknown[] = [{ role: 'user', text: 'go' }];
  for await (const frame of model.generate(request, options)) log.push(frame);
  stored.set('session', JSON.stringify(log));
  const again = JSON.parse(stored.get('session') ?? '[]') as unknown[];
  const asked = again.at(-1) as ModelResponse;
  for (const part of asked.content?.parts ?? []) {
    if (part.type !== 'function_call') continue;
    again.push({ result: await handler(part.args as { a: number; b: number }) });
  }
  for await (const frame of model.generate(request, options)) again.push(frame);
  stored.set('session', JSON.stringify(again));
}
