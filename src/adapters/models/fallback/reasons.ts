import type { ModelResponse } from '../../../runtime/index.ts';
import { finishReasonOf } from '../../../runtime/index.ts';

/** Why another model is asked. */
export type FallbackReason = 'overload' | 'rate_limit' | 'timeout' | 'connect' | 'error' | 'refusal';

export const FALLBACK_REASONS: readonly FallbackReason[] = [
  'overload',
  'rate_limit',
  'timeout',
  'connect',
  'error',
  'refusal',
];

const codes: readonly (readonly [RegExp, FallbackReason])[] = [
  // Who is out of money at one provider may not be at another.
  [/^http_(402|429)$|rate.?limit|too_many_requests|resource_exhausted|quota/i, 'rate_limit'],
  [/^http_(503|529)$|overload|unavailable|capacity/i, 'overload'],
  [/^http_(408|504|524)$|time.?out|deadline/i, 'timeout'],
  [/^http_(502|52[0-3])$|^request_error$|^stream_ended$/, 'connect'],
];

/** Why a last frame is no answer to go on with; undefined where it is one, or where no other model would help. */
export function fallbackReasonOf({ errorCode, retryable, finishReason }: ModelResponse): FallbackReason | undefined {
  if (errorCode !== undefined) {
    const known = codes.find(([code]) => code.test(errorCode));
    return known?.[1] ?? (retryable ? 'error' : undefined);
  }
  const end = finishReason === undefined ? undefined : finishReasonOf(finishReason);
  return end === 'refusal' || end === 'safety' ? 'refusal' : undefined;
}
