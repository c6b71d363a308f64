import type { ContentPart, FunctionCallPart } from '../../../contracts/index.ts';
import type { ModelResponse } from '../../../runtime/index.ts';
import { checkedText } from './failure.ts';

/** What only the provider that made a part understands; it goes back to that provider byte for byte. */
export interface ProviderState {
  /** Whose it is. */
  name: string;
  /** The provider's id of the part. */
  id?: string;
  opaque?: unknown;
}

/** The part's state, if it is this provider's: another one's is not sent. */
export function stateOf(part: ContentPart, provider: string): ProviderState | undefined {
  const state = part._meta?.provider;
  if (typeof state !== 'object' || state === null) return undefined;
  return (state as ProviderState).name === provider ? (state as ProviderState) : undefined;
}

export function withState<Part extends ContentPart>(part: Part, state: ProviderState): Part {
  return { ...part, _meta: { ...part._meta, provider: state } };
}

/** A part that has no meaning outside its provider (a server tool's step, say), kept whole. */
export function opaquePart(provider: string, opaque: unknown): ContentPart {
  return { type: '_provider', _meta: { provider: { name: provider, opaque } } };
}

export function isOpaquePart(part: ContentPart): boolean {
  return part.type === '_provider';
}

/** A call as a model made it. The runtime gives it an id of its own and checks the arguments, whatever they are. */
export function callPart(name: unknown, args: unknown, state: ProviderState): FunctionCallPart {
  return {
    type: 'function_call',
    id: '',
    name: checkedText(name),
    args: args as Record<string, unknown>,
    _meta: { provider: state },
  };
}

/** Members of a provider's object that are not among the known ones; undefined for none. */
export function extrasOf(value: object, known: ReadonlySet<string>): Record<string, unknown> | undefined {
  let extras: Record<string, unknown> | undefined;
  for (const [key, member] of Object.entries(value)) {
    if (known.has(key) || member === undefined || member === null) continue;
    extras ??= {};
    extras[key] = member;
  }
  return extras;
}

/** Calls of one answer that share an id keep it on the first: a result could not say which of them it answers. */
export function withDistinctIds(answer: ModelResponse): ModelResponse {
  const ids = new Set<string>();
  for (const part of answer.content?.parts ?? []) {
    if (part.type !== 'function_call') continue;
    const state = part._meta?.provider as ProviderState | undefined;
    if (state?.id === undefined) continue;
    if (ids.has(state.id)) delete state.id;
    else ids.add(state.id);
  }
  return answer;
}
