import type { DisplayContent, ToolCallContext } from '../../contracts/index.ts';

/** Key of {@link ApprovedContext}'s member. */
export const approvedPreview: unique symbol = Symbol.for('coxswain.approvedPreview') as never;

/** A call that somebody has approved: what its tool had shown them then, whatever it shows by now. */
export interface ApprovedContext extends Pick<ToolCallContext, 'callId'> {
  readonly [approvedPreview]?: readonly DisplayContent[] | undefined;
}
