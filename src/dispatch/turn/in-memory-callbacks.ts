import { Records } from '../records/index.ts';
import type { TurnCallbacks } from './turn-runner.ts';

/** Callbacks over a conversation that lives as long as the process: for tests, examples and first steps. */
export function inMemoryCallbacks(records: Records = new Records()): TurnCallbacks & { readonly records: Records } {
  return {
    records,
    fetchMessagesCallback: () => records.message,
    storeMessageCallback: (_, value) => records.apply({ op: 'store', kind: 'message', value }),
    mutateMessageCallback: (_, value) => records.apply({ op: 'mutate', kind: 'message', value }),
    deleteMessageCallback: (_, id) => records.apply({ op: 'delete', kind: 'message', id }),
    fetchThoughtsCallback: () => records.thought,
    storeThoughtCallback: (_, value) => records.apply({ op: 'store', kind: 'thought', value }),
    mutateThoughtCallback: (_, value) => records.apply({ op: 'mutate', kind: 'thought', value }),
    deleteThoughtCallback: (_, id) => records.apply({ op: 'delete', kind: 'thought', id }),
    fetchToolCallsCallback: () => records.toolCall,
    storeToolCallCallback: (_, value) => records.apply({ op: 'store', kind: 'toolCall', value }),
    mutateToolCallCallback: (_, value) => records.apply({ op: 'mutate', kind: 'toolCall', value }),
    deleteToolCallCallback: (_, id) => records.apply({ op: 'delete', kind: 'toolCall', id }),
  };
}
