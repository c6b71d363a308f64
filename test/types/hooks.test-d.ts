// Checked by `tsc -p tsconfig.json`, never run: a hook is told what there is at its point, and says what counts there.
import type { Content, EditableRequest, ModelRequest, ModelResponse, ToolResult } from '../../src/contracts/index.ts';
import { hooks } from '../../src/index.ts';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const isTrue = <T extends true>(_?: T): void => {};
const parts = [{ type: 'text' as const, text: 'no' }];

hooks({
  beforeModel({ llmRequest }) {
    isTrue<Equal<typeof llmRequest, EditableRequest>>();
    llmRequest.contents = llmRequest.contents.slice(-10);
    if (llmRequest.tools.size === 0) return { action: 'block', modifications: { result: 'Not now.' } };
    return undefined;
  },
  afterModel({ llmResponse }) {
    isTrue<Equal<typeof llmResponse, ModelResponse>>();
    return { action: 'proceed', modifications: { replacement: { ...llmResponse, finishReason: 'stop' } } };
  },
  onModelError({ request }) {
    isTrue<Equal<typeof request, ModelRequest>>();
    return { action: 'proceed', modifications: { replacement: 'The model is away.' } };
  },
  beforeTool: ({ args }) => ({ action: 'proceed', modifications: { args: { ...args, eur: 5 } } }),
  afterTool({ result }) {
    isTrue<Equal<typeof result, ToolResult>>();
    return { action: 'proceed', modifications: { replacement: result.content } };
  },
  onToolError: () => ({ action: 'proceed', modifications: { replacement: { away: true } } }),
  onUserMessage({ userMessage }) {
    isTrue<Equal<typeof userMessage, Content>>();
    return { action: 'block', reason: 'not here' };
  },
  beforeAgent: () => ({ action: 'block', modifications: { result: { parts } } }),
  afterAgent: () => ({ action: 'proceed', modifications: { replacement: 'bye' } }),
  beforeRun: () => ({ action: 'block', reason: 'closed' }),
  afterRun() {},
  onEvent: ({ event }) => ({ action: 'proceed', modifications: { replacement: { ...event, author: 'bot' } } }),
});

// @ts-expect-error it has run: it is too late for a no
hooks({ afterTool: () => ({ action: 'block', reason: 'no' }) });
// @ts-expect-error a replacement is for what there was: nothing yet
hooks({ beforeTool: () => ({ action: 'proceed', modifications: { replacement: 1 } }) });
// @ts-expect-error arguments are changed before a tool
hooks({ afterTool: () => ({ action: 'proceed', modifications: { args: {} } }) });
// @ts-expect-error arguments are an object
hooks({ beforeTool: () => ({ action: 'proceed', modifications: { args: [1] } }) });
// @ts-expect-error a model's answer is text, content or a response
hooks({ beforeModel: () => ({ action: 'block', modifications: { result: 5 } }) });
// @ts-expect-error what a person said is text or content
hooks({ onUserMessage: () => ({ action: 'proceed', modifications: { replacement: { words: 'hi' } } }) });
// @ts-expect-error no such action
hooks({ beforeRun: () => ({ action: 'deny' }) });
// @ts-expect-error a typo
hooks({ beforeModel: ({ llmRequest }) => void llmRequest.content });
