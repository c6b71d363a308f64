import type { Content, ContentPart, FunctionCallPart } from '../../../src/contracts/index.ts';
import type { Model, ModelRequest, ModelResponse } from '../../../src/runtime/index.ts';
import { below, pause } from '../replay/random.ts';
import type { Word } from './policy.ts';
import { words } from './policy.ts';
import type { Access } from './store.ts';
import { never } from './store.ts';
import type { World } from './world.ts';

/** A model that says and asks for anything; calls grow rare, so that turns end. */
export function randomModel(world: World, access: Access): Model {
  const { random } = world;
  let asked = 0;
  return {
    name: 'm',
    async *generate(request, { stream, signal }): AsyncGenerator<ModelResponse> {
      mustBeWhole(world, request);
      const eager = 0.75 / (1 + asked++ / 8);
      await pause(random);
      if (access.isDead) await never();
      if (world.chance(0.03)) await world.gate();
      if (world.chance(0.02)) throw new Error('the model is down');
      if (world.chance(0.01)) {
        yield { errorCode: 'overloaded', errorMessage: 'too many' };
        return;
      }
      const parts: ContentPart[] = [];
      const speak = async function* (type: 'text' | 'thought'): AsyncGenerator<ModelResponse> {
        const text = `${type} ${world.name()} of ${request.agent}`;
        parts.push(type === 'text' ? { type, text } : { type, thought: text });
        if (!stream) return;
        for (let from = 0; from < text.length; ) {
          const to = from + 1 + below(random, 12);
          const piece = text.slice(from, to);
          const part: ContentPart = type === 'text' ? { type, text: piece } : { type, thought: piece };
          yield { partial: true, content: { role: 'model', parts: [part] } };
          from = to;
          await pause(random);
          if (signal.aborted) return;
        }
      };
      if (world.chance(0.3)) yield* speak('thought');
      if (world.chance(0.8)) yield* speak('text');
      // Deltas of two thoughts in a row cannot be told apart.
      if (parts.at(-1)?.type === 'text' && world.chance(0.2)) yield* speak('thought');
      if (world.chance(0.01)) return;
      const count = world.chance(eager) ? 1 + below(random, 3) : 0;
      for (let n = 0; n < count; n++) parts.push(callOf(world, request));
      const finishReason = world.chance(0.02) ? 'length' : world.chance(0.01) ? 'refusal' : 'stop';
      yield {
        content: { role: 'model', parts },
        finishReason,
        turnComplete: true,
        ...(world.chance(0.5) && { usage: { inputTokens: 10, outputTokens: 5 } }),
      };
    },
  };
}

function callOf(world: World, request: ModelRequest): FunctionCallPart {
  const names = [...request.tools.keys()];
  const asksHelper = names.includes('helper') && world.chance(0.35);
  const name = asksHelper ? 'helper' : world.chance(0.03) ? 'unknown' : (world.pick(names) ?? 'unknown');
  if (name === 'transfer_to_agent') {
    const schema = request.tools.get(name)?.inputSchema as { properties: { agent_name: { enum: string[] } } };
    return part(name, { agent_name: world.pick(schema.properties.agent_name.enum) ?? '' });
  }
  const args: Record<string, unknown> = { k: world.name(), p: wordOf(world) };
  const { required } = (request.tools.get(name)?.inputSchema ?? {}) as { required?: string[] };
  if (required?.includes('request')) args.request = 'do it';
  if (world.chance(0.04)) delete args.k;
  if (world.chance(0.08)) args.fail = true;
  if (world.chance(0.1)) args.h = world.pick(['block', 'result', 'throw', 'edit']);
  return part(name, args);
}

function wordOf(world: World): Word {
  const roll = world.random();
  if (roll < 0.4) return 'allow';
  if (roll < 0.6) return 'ask';
  return world.pick(words) ?? 'allow';
}

function part(name: string, args: Record<string, unknown>): FunctionCallPart {
  return { type: 'function_call', id: '', name, args };
}

/** A provider refuses a history in which a call has no response or a response has no call. */
function mustBeWhole(world: World, { contents, agent }: ModelRequest): void {
  let open: string[] = [];
  for (const content of contents as readonly Content[]) {
    const responses = content.parts.filter((item) => item.type === 'function_response');
    for (const { id } of responses) {
      if (!open.includes(id)) world.fault(`${agent} is shown a response to no call of the last content`);
    }
    if (open.length !== responses.length) world.fault(`${agent} is shown ${open.length} calls without a response`);
    open = content.parts.flatMap((item) => (item.type === 'function_call' ? [item.id] : []));
  }
  if (open.length > 0) world.fault(`${agent} is shown calls without a response at the end`);
}
