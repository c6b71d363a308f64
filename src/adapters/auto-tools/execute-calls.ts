import type { FunctionResponsePart } from '../../contracts/index.ts';
import { copyJson, messageOf } from '../../contracts/index.ts';
import { errorResult, toResponse } from '../../gate/index.ts';
import type { Model } from '../../runtime/index.ts';
import type { Check } from '../../session/index.ts';
import { checkIs, listOf, name, object } from '../../session/index.ts';
import type { ChatCall } from './chat.ts';
import { Chat } from './chat.ts';
import { split } from './conversation.ts';
import { AutoToolsError, loopFailure } from './failure.ts';
import type { ExecuteOptions, GenerateOptions } from './options.ts';
import { checkAutoTools } from './options-shape.ts';
import { runLoop } from './run-loop.ts';

/**
 * Runs calls as a model would have them run: known, valid, policy, hooks, side by side, each failure by itself. The
 * results are in the order of the calls and have their ids, or none where a call has none.
 * @throws AutoToolsError where the run itself cannot continue: `ABORTED / E_ABORTED`, a failing hook
 */
export async function executeCalls(
  calls: readonly ChatCall[],
  options: ExecuteOptions & Pick<GenerateOptions, 'tools'>,
): Promise<FunctionResponsePart[]> {
  checkIs(calls, 'executeCalls: calls', listOf(aCall));
  checkAutoTools(options);
  const refused = calls.map(refusal);
  const sound = calls.filter((_call, index) => !refused[index]);
  const results = sound.length > 0 ? await runCalls(sound, options) : [];
  return refused.flatMap((part) => part ?? results.shift() ?? []);
}

const aCall: Check = {
  needs: 'a call: {name, args?, id?}',
  fits: (value) => object.fits(value) && name.fits((value as ChatCall).name),
};

/** Arguments that are no JSON could not even be logged: that call alone fails. */
function refusal({ id = '', name, args }: ChatCall): FunctionResponsePart | undefined {
  try {
    copyJson(args ?? {}, 'arguments');
    return undefined;
  } catch (error) {
    const response = toResponse(errorResult('invalid_args', messageOf(error)));
    return { type: 'function_response', id, name, ...response, isError: true, errorType: 'invalid_args' };
  }
}

async function runCalls(
  calls: readonly ChatCall[],
  options: ExecuteOptions & Pick<GenerateOptions, 'tools'>,
): Promise<(FunctionResponsePart | undefined)[]> {
  const asked = Chat.new({}, []).addTurn('model', calls);
  // The same loop with a model that has spoken already; one step, so that it is not asked again.
  const model: Model = {
    name: 'calls',
    async *generate() {
      const parts = asked.history[0]?.parts ?? [];
      yield { content: { role: 'model', parts: [...parts] }, turnComplete: true, finishReason: 'tool_calls' };
    },
  };
  const ids: string[] = [];
  const results = new Map<string, FunctionResponsePart>();
  const end = await runLoop(
    split([]),
    { ...options, model, streaming: false, limits: { steps: 1 } },
    {
      event({ content, path }) {
        if (path.includes('/')) return;
        for (const part of content?.parts ?? []) {
          if (part.type === 'function_call') ids.push(part.id);
          else if (part.type === 'function_response') results.set(part.id, part);
        }
      },
    },
  );
  const failure = end.reason === 'max_turns' ? undefined : loopFailure(end, 1, options.signal);
  if (failure) throw new AutoToolsError(failure, Chat.new({}, end.contents ?? []));
  return ids.map((id, index) => {
    const part = results.get(id);
    return part && { ...part, id: calls[index]?.id ?? '' };
  });
}
