import { expect, test } from 'vitest';
import { sourceFiles } from './source.ts';

// A switch over a closed union ends in `unreachable` (or in `satisfies never`, where another error is thrown), so that a
// new member of the union does not compile where it is forgotten. Others choose among what is open, and say why here.
const open: Record<string, string[]> = {
  'types of events: executors have more': [
    'adapters/acp/server/showing.ts event.type',
    'cli/view/text-view.ts event.type',
    'adapters/models/ai-sdk/agent-parts.ts event.type',
    'contracts/grammar/requests.ts event.type',
    'host/mcp/turn/turn.ts event.type',
    'host/subagents/subagent-events.ts event.type',
    'host/subagents/subagent-turn.ts event.type',
    'session/ag-ui/ag-ui-writer.ts event.type',
    'session/audit.ts event.type',
    'session/stream/stream-summary.ts event.type',
    'session/ui/ui-writer.ts event.type',
    'session/view.ts event.type',
  ],
  'types of content: executors have more': [
    'adapters/acp/server/showing.ts display.type',
    'adapters/acp/server/showing.ts part.type',
    'adapters/models/content/conversation.ts part.type',
    'cli/questions/preview.ts part.type',
    'gate/values/parts.ts part.type',
    'host/mcp/turn/content.ts part.type',
    'host/mcp/turn/preview-text.ts part.type',
    'runtime/step/transcript.ts part.type',
    'runtime/store/event-codec.ts part.type',
    'session/ui/ui-writer.ts part.type',
  ],
  'reasons, error types and patterns: executors have more': [
    'adapters/acp/server/prompt.ts summary.reason',
    'host/mcp/turn/turn.ts errorType',
    'runtime/agents/composition.ts composition.pattern',
  ],
  'chunks for a page: data parts have names of their own': [
    'adapters/models/ai-sdk/agent-parts.ts chunk.type',
    'session/ui/growing-message.ts chunk.type',
  ],
  'words of other programs': [
    'adapters/acp/calls/content.ts block.type',
    'adapters/acp/client/prompt-end.ts reason',
    'adapters/acp/client/turn.ts update.sessionUpdate',
    'adapters/models/anthropic/decode.ts block.type',
    'adapters/models/anthropic/decode.ts chunk.type',
    'adapters/models/anthropic/decode.ts delta.type',
    'adapters/models/openai/responses-decode.ts chunk.type',
    'adapters/models/ai-sdk/decode.ts chunk.type',
    'adapters/models/ai-sdk/decode.ts item.type',
    'adapters/policy/cedar-types.ts type',
    'adapters/stores/sql/databases/sqlite-errors.ts code & 0xff',
    'adapters/tools/mcp/toolset/content.ts block.type',
    'conformance/model-server/openai-chat.ts message.role',
    'gate/schema/explain.ts error.keyword',
  ],
  'words of people, characters, schemes': [
    'adapters/stores/open-store.ts scheme',
    'cli/questions/ask.ts key.toLowerCase()',
    'conformance/model-server/fixture.ts verb',
    'gate/pattern/pattern-syntax.ts this.#source[this.#at]',
  ],
  'some error codes of all': ['adapters/remote/endpoint.ts code'],
};

interface Switch {
  choice: string;
  isClosed: boolean;
}

function switchesOf(path: string, code: string): Switch[] {
  return [...code.matchAll(/\bswitch \(/g)].map((match) => {
    const start = match.index + match[0].length;
    const value = code.slice(start, endOf(code, start, '(', ')'));
    const body = code.indexOf('{', start + value.length) + 1;
    const block = code.slice(body, endOf(code, body, '{', '}'));
    const last = block.slice(block.lastIndexOf('default:'));
    return { choice: `${path} ${value}`, isClosed: /\bdefault:[\s\S]*(\bunreachable\(|satisfies never)/.test(last) };
  });
}

/** Of what was opened before `start`. Strings hold no brackets that are not closed in them, or this counts wrong. */
function endOf(code: string, start: number, opens: string, closes: string): number {
  let depth = 1;
  let at = start;
  for (; depth > 0 && at < code.length; at++) {
    if (code[at] === opens) depth++;
    else if (code[at] === closes) depth--;
  }
  return at - 1;
}

const strings = /'(?:\\.|[^'\\\n])*'/g;

test('a switch over a closed union ends in unreachable, and any other says why it is open', () => {
  const switches = sourceFiles().flatMap(({ path, code }) => switchesOf(path, code.replaceAll(strings, "''")));
  const others = switches.filter(({ choice, isClosed }) => !isClosed && !choice.includes(' typeof '));
  expect(switches.length).toBeGreaterThan(others.length);
  expect(others.map(({ choice }) => choice).sort()).toEqual(Object.values(open).flat().sort());
});

test.each([
  ['switch (a.kind) { case 1: return {}; default: return unreachable(a, "an a"); }', true],
  ['switch (a.kind) { case 1: break; default: a satisfies never; throw new Error(); }', true],
  ['switch (a.kind) { case 1: unreachable(a, ""); break; default: }', false],
  ['switch (a.kind) { case 1: return {}; }', false],
])('%j is closed: %s', (code, isClosed) => {
  expect(switchesOf('x.ts', code)).toEqual([{ choice: 'x.ts a.kind', isClosed }]);
});
