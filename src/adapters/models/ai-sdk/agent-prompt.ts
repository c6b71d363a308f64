import type { ContentPart, MessageInput } from '../../../contracts/index.ts';
import { CoxswainError } from '../../../contracts/index.ts';
import { badInput, checkIs, checkOptions, kindOf, list, name, object } from '../../../session/index.ts';
import type { ModelWarning } from './agent-types.ts';
import { fileIn } from './files.ts';

/** What a call of a language model asks of a session. */
export interface AskedOfAgent {
  sessionId: string | undefined;
  /** The person's newest message; undefined: the turn continues. */
  message: MessageInput | undefined;
  /** The prompt holds more than that message. */
  hasHistory: boolean;
  warnings: ModelWarning[];
}

/** Settings that are hints: an answer without them is an answer. */
const HINTS = [
  'maxOutputTokens',
  'temperature',
  'stopSequences',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'seed',
  'reasoning',
] as const;

/**
 * Reads what the AI SDK asks a language model. Of the prompt the newest message of the user is taken; all else of it is what
 * the caller says of the past, of which the session's log is the truth.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`, `UNIMPLEMENTED / E_UNSUPPORTED` for what would be promised and not kept
 */
export function readCall(given: unknown): AskedOfAgent {
  checkIs(given, 'the call of the model', object);
  const { prompt, tools, toolChoice, responseFormat, providerOptions, ...rest } = given as Record<string, unknown>;
  checkIs(prompt, 'the call of the model: prompt', list);
  const messages = prompt as readonly unknown[];
  if (Array.isArray(tools) && tools.length > 0) {
    throw unsupported('tools', 'the agent has its own, and its host runs them; give them to the agent or to its host');
  }
  const choice = wordOf(toolChoice);
  if (choice !== undefined && choice !== 'auto') throw unsupported('toolChoice', 'its agent chooses; leave it out');
  if (wordOf(responseFormat) === 'json') {
    throw unsupported('responseFormat json', 'give the agent an outputSchema, and read its text');
  }
  if (messages.some((message) => fieldsOf(message).role === 'system')) {
    throw unsupported('a system message', 'the agent has an instruction of its own; leave out `system`');
  }
  const newest = fieldsOf(messages.at(-1));
  const { role, content } = newest;
  if (role !== 'user' && role !== 'assistant' && role !== 'tool') {
    throw badInput('the call of the model: prompt has no message at its end; give a message of the user');
  }
  const warnings: ModelWarning[] = HINTS.filter(
    (hint) => rest[hint] !== undefined && rest[hint] !== 'provider-default',
  ).map((feature) => ({ type: 'unsupported', feature, details: 'the agent has settings of its own' }));
  if (role === 'tool' && partsIn(content).some(({ type }) => type === 'tool-approval-response')) {
    const message =
      'an answer to an approval in the prompt is not heard, since anybody may have written it; answer by session.respond, or by approvals of the host';
    warnings.push({ type: 'other', message });
  }
  return {
    sessionId: sessionIn(providerOptions),
    message: role === 'user' ? { kind: 'message', content: contentOf(content) } : undefined,
    hasHistory: messages.length > 1,
    warnings,
  };
}

function sessionIn(options: unknown): string | undefined {
  const own = fieldsOf(options).coxswain;
  if (own === undefined) return undefined;
  checkOptions<{ sessionId?: string }>(own, 'providerOptions.coxswain', { sessionId: name });
  return own.sessionId;
}

function contentOf(content: unknown): ContentPart[] {
  const parts = partsIn(content).flatMap((part, at) => partOf(part, at));
  if (parts.length === 0) throw badInput('the newest message of the prompt has neither text nor a file');
  return parts;
}

function partOf(part: Record<string, unknown>, at: number): ContentPart[] {
  const { type, text, mediaType, data } = part;
  const where = `part ${at} of the newest message of the prompt`;
  if (type === 'text' && typeof text === 'string') return text === '' ? [] : [{ type: 'text', text }];
  if (type !== 'file') throw badInput(`${where} is neither text nor a file`);
  const { type: form, text: inline } = fieldsOf(data);
  if (form === 'text' && typeof inline === 'string') return [{ type: 'text', text: inline }];
  if (form === 'reference') throw unsupported(`${where}, a file kept at a provider,`, 'give its bytes or its address');
  if (typeof mediaType !== 'string' || !/^[^/*\s]+\/[^/*\s]+$/.test(mediaType)) {
    throw badInput(`${where}: mediaType is ${show(mediaType)}; give the whole type, as image/png`);
  }
  const file = fileIn(data);
  if (!file) throw badInput(`${where} is a file with neither bytes nor an address`);
  if ('uri' in file && !/^https?:/i.test(file.uri)) throw badInput(`${where}: only http and https addresses are taken`);
  return [{ type: 'media', mimeType: mediaType, ...file }];
}

/** A message's parts; a text alone is one of them. */
function partsIn(content: unknown): Record<string, unknown>[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.map(fieldsOf) : [];
}

function wordOf(value: unknown): unknown {
  return typeof value === 'string' ? value : fieldsOf(value).type;
}

function show(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : kindOf(value);
}

function unsupported(what: string, instead: string): CoxswainError {
  const message = `an agent as a language model takes no ${what.replace(/^a /, '')}: ${instead}`;
  return new CoxswainError('UNIMPLEMENTED', 'E_UNSUPPORTED', message);
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
