import type { ExecutorStreamOptions, Limits, TelemetrySpan, TurnTerms } from '../../contracts/index.ts';
import type { Hosted, HostedFrame } from '../frame/index.ts';
import { traceContextOf } from './run-spans.ts';

/** What one inner stream is held to, beside what its host's stream is. */
export interface InnerHold {
  limits: Limits;
  signal: AbortSignal;
  /** Tools that policy, too, does not offer. */
  excluded: readonly string[] | undefined;
  /** Not in the log yet. */
  terms: TurnTerms | undefined;
  span: TelemetrySpan | undefined;
}

/** The options of one inner stream: tools are left to the host, and what its models cost the host counts. */
export function innerOptions(
  { frame }: Hosted,
  options: ExecutorStreamOptions,
  { limits: { usd: _, ...limits }, signal, excluded, terms, span }: InnerHold,
): ExecutorStreamOptions {
  const mode = frame.modeOf(options.permissionMode);
  return {
    ...options,
    hostToolExecution: true,
    limits,
    signal,
    ...(mode === undefined ? {} : { permissionMode: mode }),
    ...(excluded === undefined ? {} : { excludeTools: excluded }),
    ...(terms ? { terms } : {}),
    ...traceContextOf(frame, span),
  };
}

/** Tools that are not offered in a stream: the caller's word and policy's; undefined where policy has none. */
export async function excludedTools(
  frame: HostedFrame,
  { excludeTools = [], permissionMode }: ExecutorStreamOptions,
): Promise<readonly string[] | undefined> {
  const asked = frame.excluded(frame.modeOf(permissionMode));
  const excluded = asked instanceof Promise ? await asked : asked;
  return excluded.length > 0 ? [...excludeTools, ...excluded] : undefined;
}
