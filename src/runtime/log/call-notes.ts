import { isObject } from '../../base/index.ts';
import type { FunctionCallPart } from '../../contracts/index.ts';
import type { AnnouncedTool, HookQuestion } from '../../session/index.ts';
import { isAnnouncedTool } from '../../session/index.ts';
import type { EventActions } from './event.ts';

/** What the runtime notes of a call when it takes it from a model: on its part in the log, beside what came with it. */
export interface CallNotes {
  /** before_tool hooks have seen it: it was announced to a host. */
  readonly hooked?: boolean;
  /** Author or hook want a person asked, whatever the host's policy says: the reason. */
  readonly ask?: string;
  /** What a hook asks with, where one does. */
  readonly asked?: HookQuestion;
  /** Its host has the handler. */
  readonly handledBy?: 'host';
  /** Kind, annotations and digest of the tool, by the word of whoever has it. */
  readonly tool?: AnnouncedTool;
  /** What its hooks want done once it is answered. */
  readonly signals?: Partial<EventActions>;
  /** What the model wrote, where that is not what runs. */
  readonly rawArgs?: unknown;
}

/** Reads them; what is of another shape was noted by nobody here. */
export function callNotes({ _meta }: Pick<FunctionCallPart, '_meta'>): CallNotes {
  // A part that another program wrote may have null there.
  const { hooked, ask, asked, handledBy, tool, signals, rawArgs } = _meta ?? none;
  return {
    ...(hooked === true ? { hooked } : {}),
    ...(typeof ask === 'string' ? { ask } : {}),
    ...(isObject(asked) ? { asked } : {}),
    ...(handledBy === 'host' ? { handledBy } : {}),
    ...(isAnnouncedTool(tool) ? { tool } : {}),
    ...(isObject(signals) ? { signals } : {}),
    ...(rawArgs === undefined ? {} : { rawArgs }),
  };
}

const none: Record<string, unknown> = Object.freeze({});

/** Adds to what is noted. */
export function noteOn(call: FunctionCallPart, notes: CallNotes): void {
  call._meta = { ...call._meta, ...notes };
}

/** What came with a call, without what is decided here: an answer from a log brings what was decided then. */
export function withoutNotes(meta: Record<string, unknown>): Record<string, unknown> {
  const { hooked, ask, asked, handledBy, tool, signals, ...rest } = meta;
  return rest;
}
