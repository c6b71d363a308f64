import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { ModelOptions } from '../../../src/adapters/models/index.ts';
import { aiSdkModel } from '../../../src/adapters/models/index.ts';
import type { ModelUnderTest, WireRequest } from '../../suites/model.ts';
import { anthropic, gemini, openaiChat, openaiResponses, providers } from './providers.ts';

type Json = Record<string, unknown>;
const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const apiKey = 'sk-test-secret-key';
/** What an address and a key do not belong to. */
const ours = ({ retry, timeoutMs, prices, config }: ModelOptions, provider: string) => ({
  provider,
  ...(retry ? { retry } : {}),
  ...(timeoutMs === undefined ? {} : { timeoutMs }),
  ...(prices ? { prices } : {}),
  ...(config ? { config } : {}),
});
const fetchOf = ({ fetch }: ModelOptions) => (fetch ? { fetch } : {});

const anthropicSdk: ModelUnderTest = {
  ...anthropic,
  title: 'AI SDK: Anthropic',
  model: (url, more = {}) =>
    aiSdkModel(
      createAnthropic({ apiKey, baseURL: `${url}/v1`, ...fetchOf(more) })('claude-sonnet-4-5'),
      ours(more, 'ai-anthropic'),
    ),
};

const googleSdk: ModelUnderTest = {
  ...gemini,
  title: 'AI SDK: Google',
  model: (url, more = {}) =>
    aiSdkModel(
      createGoogle({ apiKey, baseURL: `${url}/v1beta`, ...fetchOf(more) })('gemini-test'),
      ours(more, 'ai-google'),
    ),
  hidesModel: true,
  read(body): WireRequest {
    const contents = list(body.contents).reduce<Json[]>((all, content) => {
      const last = all.at(-1);
      // Results and what is said beside them come as two of one role, which Gemini takes.
      if (!last || last.role !== content.role) all.push({ ...content });
      else last.parts = [...list(last.parts), ...list(content.parts)];
      return all;
    }, []);
    const { turns, ...rest } = gemini.read({ ...body, contents });
    // What came back stands under `content`, or `error`.
    const said = ({ content, error }: Json) => String(content ?? error);
    const results = (each: (typeof turns)[number]) =>
      each.results.map((result) => ({ ...result, text: said(JSON.parse(result.text) as Json) }));
    return { ...rest, turns: turns.map((each) => ({ ...each, results: results(each) })) };
  },
  proof: {
    expected: gemini.proof.expected,
    of: (body) =>
      (gemini.proof.of(body) as { functionCall?: Json; thoughtSignature?: unknown }[])
        // What the AI SDK puts where a call of another model has none.
        .filter(({ thoughtSignature }) => thoughtSignature !== 'skip_thought_signature_validator')
        .map(({ functionCall: { id: _id, ...call } = {}, ...part }) => ({
          functionCall: call,
          ...part,
        })),
  },
};

const openaiSdk: ModelUnderTest = {
  ...openaiResponses,
  title: 'AI SDK: OpenAI Responses',
  model: (url, more = {}) =>
    aiSdkModel(createOpenAI({ apiKey, baseURL: `${url}/v1`, ...fetchOf(more) })('gpt-5-test'), {
      ...ours(more, 'ai-openai'),
      config: { ...more.config, providerOptions: { openai: { store: false, forceReasoning: false } } },
    }),
  read(body) {
    const system = list(body.input).filter(({ role }) => role === 'system' || role === 'developer');
    const input = list(body.input).flatMap((item) =>
      item.role === 'user' || item.role === 'assistant'
        ? [{ type: 'message', ...item }]
        : system.includes(item)
          ? []
          : [item],
    );
    return openaiResponses.read({ ...body, input, instructions: system.map(({ content }) => content).join('') });
  },
};

const compatibleSdk: ModelUnderTest = {
  ...openaiChat,
  title: 'AI SDK: OpenAI-compatible',
  model: (url, more = {}) =>
    aiSdkModel(
      createOpenAICompatible({
        name: 'local',
        apiKey,
        baseURL: `${url}/v1`,
        includeUsage: true,
        ...fetchOf(more),
      }).chatModel('gpt-test'),
      ours(more, 'ai-local'),
    ),
};

/** Models of the AI SDK's own packages, each over its real wire. */
export const aiSdkProviders: readonly ModelUnderTest[] = [anthropicSdk, googleSdk, openaiSdk, compatibleSdk];

/** Adapters of our own and models of the AI SDK. */
export const everyProvider: readonly ModelUnderTest[] = [...providers, ...aiSdkProviders];
