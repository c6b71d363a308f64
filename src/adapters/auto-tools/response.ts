import type { Content, ContentPart, FunctionCallPart, Usage } from '../../contracts/index.ts';
import { textOfParts } from '../../contracts/index.ts';
import { checkIs, guarded, listOf, object } from '../../session/index.ts';
import type { Chat } from './chat.ts';

/** What a request came to. */
export interface AutoToolsResponse {
  /** The final answer. */
  readonly content: Content;
  /** Its text; thoughts and everything else are left out. */
  readonly text: string;
  /** `stop`, `refusal`, `safety`, `length`, … */
  readonly finishReason?: string;
  /** Model that gave the final answer. */
  readonly model?: string;
  /** Of all model calls together. */
  readonly usage: Usage;
  /** Model calls that it took. */
  readonly steps: number;
  /** The history with this answer, to continue from. */
  readonly chat: Chat;
}

type Answer = { readonly content?: Content | undefined } | Content | undefined;

/** Text of an answer; thoughts, calls and everything else are left out. */
export function extractText(response: Answer): string {
  return textOfParts(partsOf(response));
}

/** Calls of an answer, or of several in turn, in the order in which they were made; none without content. */
export function extractCalls(response: Answer | readonly Answer[]): FunctionCallPart[] {
  const answers = guarded('the answer', () => Array.isArray(response))
    ? (response as readonly Answer[])
    : [response as Answer];
  return answers.flatMap((answer) =>
    partsOf(answer).filter((part): part is FunctionCallPart => part.type === 'function_call'),
  );
}

function partsOf(response: Answer): readonly ContentPart[] {
  if (!response) return [];
  const parts = guarded('the answer', () =>
    'parts' in response ? response.parts : ((response as { content?: Content }).content?.parts ?? []),
  );
  checkIs(parts, 'the parts of the answer', listOf(object));
  return parts;
}
