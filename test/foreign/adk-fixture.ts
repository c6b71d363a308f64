import { fromGoogleAdk } from '../../src/adapters/google-adk/index.ts';
import type { FixtureEntry } from '../../src/conformance/index.ts';
import { answerFixture } from '../../src/conformance/index.ts';
import type { AgentSource } from '../../src/contracts/index.ts';
import { after } from '../conformance/fixture-model.ts';
import type { Adk, Request } from './adk.ts';

/** An agent of the real package whose model does what fixture messages say. */
export function fixtureSource(adk: Adk): AgentSource {
  const Base = adk.BaseLlm as new (config: { model: string }) => object;
  class Fixture extends Base {
    async *generateContentAsync(request: Request, stream = false, signal?: AbortSignal) {
      const step = answerFixture(request.contents.flatMap(entriesOf));
      if (step.fail !== undefined) throw new Error(step.fail);
      if (step.wait) {
        await new Promise((_, reject) =>
          signal?.addEventListener('abort', () => reject(signal.reason), { once: true }),
        );
      }
      if (step.waitMs !== undefined) await after(step.waitMs, signal ?? new AbortController().signal);
      const parts: object[] = [];
      if (step.thought) parts.push({ text: step.thought, thought: true });
      if (step.text) parts.push({ text: step.text });
      if (stream && step.thought) yield piece({ text: step.thought, thought: true });
      if (stream) for (const text of step.text?.match(/\S+\s*/g) ?? []) yield piece({ text });
      if (step.ask) parts.push({ functionCall: { name: 'ask_person', args: step.ask } });
      for (const { name, args } of step.calls ?? []) parts.push({ functionCall: { name, args } });
      const { inputTokens, outputTokens } = step.usage ?? {};
      const usageMetadata = { promptTokenCount: inputTokens, candidatesTokenCount: outputTokens };
      yield { content: { role: 'model', parts }, ...(step.usage ? { usageMetadata } : {}) };
    }

    async connect(): Promise<never> {
      throw new Error('not live');
    }
  }
  const askUser = new adk.FunctionTool({
    name: 'ask_person',
    description: 'Asks the user.',
    parameters: { type: 'OBJECT', properties: { message: { type: 'STRING' } } },
    execute: ({ message }: { message: string }, context: Asking) => {
      if (context.toolConfirmation) return { answer: context.toolConfirmation.confirmed ? 'yes' : 'no' };
      context.requestConfirmation({ hint: message });
      return { waits: true };
    },
  });
  const agent = new adk.LlmAgent({ name: 'bot', model: new Fixture({ model: 'fixture' }), tools: [askUser] });
  return fromGoogleAdk({ adk, agent });
}

interface Asking {
  toolConfirmation?: { confirmed: boolean };
  requestConfirmation(request: object): void;
}

const piece = (part: object) => ({ partial: true, content: { role: 'model', parts: [part] } });

function entriesOf({ role, parts = [] }: Request['contents'][number]): FixtureEntry[] {
  const answers = parts.flatMap(({ functionResponse }) => functionResponse ?? []);
  if (answers.length > 0) {
    return answers.map(({ id = '', name = '', response }) => ({
      role: 'tool',
      callId: id,
      name,
      text: JSON.stringify(response),
      isError: 'error' in (response ?? {}),
    }));
  }
  if (role === 'user') return [{ role, text: parts.map(({ text = '' }) => text).join('') }];
  const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
  return [{ role: 'agent', calls: calls.map(({ id = '', name = '' }) => ({ id, name })) }];
}
