import { isObject } from '../../base/index.ts';
import type { ConfirmationRequest, ReportedRequest, ToolDescriptor } from '../../contracts/index.ts';

/** What is known of a tool that is the agent's own; the digest is of all of its description. */
export type AnnouncedTool = Partial<ToolDescriptor> & { readonly digest?: string };

/** What a hook of an agent asks with, by the executor's word. */
export type HookQuestion = { readonly [K in keyof ConfirmationRequest]?: unknown };

/** What an executor tells its host of a call that waits: it rides in the request's `context`. */
export interface AnnouncedCall {
  readonly tool?: AnnouncedTool;
  readonly asked?: HookQuestion;
}

/** The `context` of a request that says it. */
export function announcing(tool: AnnouncedTool | undefined, asked: HookQuestion | undefined): Record<string, unknown> {
  return { ...(tool ? { tool } : {}), ...(asked ? { asked } : {}) };
}

/** What a request says of its call. An executor may be another program: members are its word, none of them is checked. */
export function announcedIn({ context }: Pick<ReportedRequest, 'context'>): AnnouncedCall {
  const { tool, asked } = context ?? {};
  return { ...(isAnnouncedTool(tool) ? { tool } : {}), ...(isObject(asked) ? { asked } : {}) };
}

export function isAnnouncedTool(value: unknown): value is AnnouncedTool {
  return isObject(value);
}
