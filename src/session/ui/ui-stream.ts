import { checkIs, checkOptions, fn, iterable, object } from '../../base/index.ts';
import type { AgentEvent } from '../../contracts/index.ts';
import { isCoxswainError } from '../../contracts/index.ts';
import type { UiMessageChunk } from './chunk.ts';
import type { UiRequest } from './ui-request.ts';
import type { UiQuestion } from './ui-writer.ts';
import { UiWriter } from './ui-writer.ts';

/**
 * The events of a stream as a UI message stream of the AI SDK, for `createUIMessageStreamResponse({ stream })` and
 * `useChat`. Approvals become `tool-approval-request`, other questions `data-question`. A stream that is refused is one
 * chunk `error`; who cancels it aborts the agent's stream.
 *
 * `mayAnswer`: whether the person who looks may answer a question, at once: a promise is refused; where not, the page gets `data-waiting` instead.
 * `request`: what `fromUiMessages` read; what continues a turn is added to the message that the page has.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 * @example
 * ```ts
 * import { createHost, LlmAgent } from 'coxswain';
 * import { ScriptedModel } from 'coxswain/testing';
 * import { toUiMessageStream } from 'coxswain/ui';
 *
 * const host = createHost({ app: 'shop', agents: [new LlmAgent({ name: 'clerk', model: new ScriptedModel(['Hello.']) })] });
 * const session = await host.open('clerk');
 * for await (const chunk of toUiMessageStream(session.stream('Hello?'))) console.log(chunk);
 * await host.close();
 * ```
 */
export function toUiMessageStream(
  events: AsyncIterable<AgentEvent>,
  options: {
    mayAnswer?: (question: UiQuestion) => boolean;
    request?: Pick<UiRequest, 'message' | 'knownCalls'>;
  } = {},
): ReadableStream<UiMessageChunk> {
  checkIs(events, 'toUiMessageStream: events', iterable);
  checkOptions<typeof options>(options, 'toUiMessageStream: options', { mayAnswer: fn, request: object });
  const iterator = events[Symbol.asyncIterator]();
  const { mayAnswer, request } = options;
  const writer = new UiWriter({
    ...(mayAnswer ? { mayAnswer } : {}),
    ...(request ? { knownCalls: request.knownCalls, isContinued: request.message === undefined } : {}),
  });
  return new ReadableStream<UiMessageChunk>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const next = await iterator.next();
            if (next.done) {
              controller.close();
              return;
            }
            const chunks = writer.write(next.value);
            for (const chunk of chunks) controller.enqueue(chunk);
            if (chunks.length > 0) return;
          }
        } catch (error) {
          controller.enqueue({ type: 'error', errorText: errorTextOf(error) });
          controller.close();
        }
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** What a page is told of a failure; nothing of one that is not of this package. */
export function errorTextOf(error: unknown): string {
  return isCoxswainError(error) ? `${error.code}: ${error.message}` : 'E_INTERNAL: the turn failed';
}
