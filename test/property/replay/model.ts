import type { Content, ContentPart, FunctionCallPart } from '../../../src/contracts/index.ts';
import type { Model, ModelRequest } from '../../../src/runtime/index.ts';
import type { Random } from './random.ts';
import { below, hash, pause, randomOf } from './random.ts';
import type { CallArgs } from './tools.ts';
import { toolNames } from './tools.ts';
import type { World } from './world.ts';

export interface Character {
  seed: number;
  /** Steps in which it may call tools. */
  steps: number;
  experts: readonly string[];
}

/** A model whose answer depends on where it is asked and on nothing else. */
export function modelOf(world: World, character: Character): Model {
  return {
    name: 'm',
    async *generate(request, { stream }) {
      const key = String(request.config.key);
      const random = randomOf(hash(`${character.seed} ${key}`));
      mustBeWhole(world, key, request.contents);
      await pause(random);
      const text = `say ${key}`;
      if (stream && random() < 0.3) {
        const cut = below(random, text.length);
        for (const piece of [text.slice(0, cut), text.slice(cut)]) {
          yield { partial: true, content: { role: 'model', parts: [{ type: 'text', text: piece }] } };
        }
      }
      const calls = Number(request.config.step) < character.steps ? callsOf(random, key, request, character) : [];
      const parts: ContentPart[] = [{ type: 'text', text }, ...calls];
      yield { content: { role: 'model', parts }, finishReason: calls.length > 0 ? 'tool_calls' : 'stop' };
    },
  };
}

function callsOf(random: Random, key: string, request: ModelRequest, { experts }: Character): FunctionCallPart[] {
  const calls: FunctionCallPart[] = [];
  const count = below(random, 3);
  for (let n = 0; n < count; n++) {
    const args: CallArgs = { k: `${key}#${n}`, request: 'do it' };
    if (random() < 0.08) args.escalate = true;
    if (random() < 0.05) args.skip = true;
    if (random() < 0.05) args.fail = true;
    const roll = random();
    const name = roll < 0.03 ? 'unknown' : (pick(random, roll < 0.45 ? experts : toolNames) ?? 'work');
    // Arguments that do not fit are answered without a run.
    calls.push(call(name, roll > 0.98 ? { ...args, fail: 'no boolean' } : args));
  }
  const targets = transferTargets(request);
  const target = pick(random, targets);
  if (target !== undefined && random() < 0.4) {
    const args = { agent_name: target, k: `${key}#t` };
    calls.splice(below(random, calls.length + 1), 0, call('transfer_to_agent', args));
  }
  return calls;
}

function transferTargets(request: ModelRequest): string[] {
  const schema = request.tools.get('transfer_to_agent')?.inputSchema as
    | { properties: { agent_name: { enum: string[] } } }
    | undefined;
  return schema?.properties.agent_name.enum ?? [];
}

function call(name: string, args: Record<string, unknown>): FunctionCallPart {
  return { type: 'function_call', id: '', name, args };
}

function pick<T>(random: Random, list: readonly T[]): T | undefined {
  return list[below(random, list.length)];
}

/** A provider refuses a history in which a call has no response or a response has no call. */
function mustBeWhole(world: World, key: string, contents: readonly Content[]): void {
  let open: string[] = [];
  for (const content of contents) {
    const responses = content.parts.filter((part) => part.type === 'function_response');
    for (const part of responses) {
      if (!open.includes(part.id)) world.fault(`${key} is shown a response to no call of the last content`);
      if (part.response.status === 'pending') world.fault(`${key} is asked before ${part.name} has its response`);
    }
    if (open.length !== responses.length) world.fault(`${key} is shown ${open.length} calls without a response`);
    open = content.parts.flatMap((part) => (part.type === 'function_call' ? [part.id] : []));
  }
  if (open.length > 0) world.fault(`${key} is shown calls without a response at the end`);
}
