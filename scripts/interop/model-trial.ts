import type { AgentEvent, Model } from '../../src/index.ts';
import { createHost, defineTool, LlmAgent, textOfParts } from '../../src/index.ts';
import type { Trial } from './subject.ts';
import { hold } from './under-gate.ts';

/** What the mock is to answer to each of these prompts. */
export const PROMPTS = {
  words: 'say words',
  thought: 'think first',
  calls: 'call twice',
  cut: 'be cut',
  refused: 'be refused',
} as const;
export const WORDS = 'Grüße, 世界 😀, and one more line\nof text.';
export const BOTH = ['north', 'south'] as const;

interface Turn {
  events: AgentEvent[];
  words: string;
  ran: string[];
}

async function turn(model: Model, prompt: string, streaming: boolean): Promise<Turn> {
  const ran: string[] = [];
  const look = defineTool({
    name: 'look',
    description: 'Looks somewhere.',
    inputSchema: { type: 'object', properties: { where: { type: 'string' } }, required: ['where'] },
    execute: ({ where }) => {
      ran.push(String(where));
      return `seen ${where}`;
    },
  });
  const host = createHost({
    app: 'interop',
    agents: [new LlmAgent({ name: 'agent', instruction: 'Be brief.', model })],
    tools: [look],
    onApproval: () => ({ kind: 'approve' }),
    warn: () => {},
  });
  try {
    const session = await host.open('agent');
    const events: AgentEvent[] = [];
    for await (const event of session.stream(prompt, { streaming })) events.push(event);
    const said = events.flatMap((event) =>
      event.type === 'message' && !event.partial && event.role === 'agent' ? event.content : [],
    );
    return { events, words: textOfParts(said), ran };
  } finally {
    await host.close();
  }
}

const endOf = (events: readonly AgentEvent[]) => events.findLast(({ type }) => type === 'stream_end');

/** One model against a mock that was told what to answer: `prompts` are those it knows. */
export async function tryModel(
  { check }: Trial,
  name: string,
  model: Model,
  prompts: Readonly<Record<'streamed' | 'whole', readonly (keyof typeof PROMPTS)[]>>,
): Promise<void> {
  const tries: Record<keyof typeof PROMPTS, (streaming: boolean) => Promise<void>> = {
    async words(streaming) {
      const { words, events } = await turn(model, PROMPTS.words, streaming);
      hold(words.trim() === WORDS, JSON.stringify(events));
      hold(JSON.stringify(endOf(events)).includes('completed'), JSON.stringify(endOf(events)));
    },
    async thought(streaming) {
      const { events, words } = await turn(model, PROMPTS.thought, streaming);
      hold(
        JSON.stringify(events).includes('a plan') && !words.includes('a plan'),
        JSON.stringify(events).slice(0, 400),
      );
    },
    async calls(streaming) {
      const { ran, words } = await turn(model, PROMPTS.calls, streaming);
      hold(ran.toSorted().join() === BOTH.join() && words.includes('both seen'), `${ran.join()} ${words}`);
    },
    async cut(streaming) {
      const { events } = await turn(model, PROMPTS.cut, streaming);
      hold(JSON.stringify(events).includes('"truncated":true'), JSON.stringify(endOf(events)));
    },
    async refused(streaming) {
      const { events } = await turn(model, PROMPTS.refused, streaming);
      hold(
        JSON.stringify(events).match(/http_401|invalid_request_error|authentication_error/) !== null,
        JSON.stringify(events).slice(-400),
      );
    },
  };
  for (const way of ['streamed', 'whole'] as const) {
    for (const prompt of prompts[way]) {
      await check(`${name} ${way}: ${prompt}`, async () => {
        await tries[prompt](way === 'streamed');
        return '';
      });
    }
  }
}
