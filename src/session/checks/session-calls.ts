import type { Shape } from '../../base/index.ts';
import {
  amount,
  anything,
  bag,
  checkIs,
  checkOptions,
  checkShape,
  flag,
  listOf,
  name,
  object,
  oneOf,
  required,
  signal,
  text,
  texts,
} from '../../base/index.ts';
import type { AbortTarget, EventsOptions, ExecutorStreamOptions, SteerData } from '../../contracts/index.ts';
import { permissionMode } from './permission-modes.ts';
import { checkLimits, checkNames, checkPrincipal } from './principal.ts';

const execution: Shape<ExecutorStreamOptions> = {
  tools: listOf(bag),
  excludeTools: anything,
  model: name,
  hostToolExecution: flag,
  streaming: flag,
  permissionMode,
  whilePending: oneOf('cancel', 'hold', 'proceed'),
  limits: anything,
  signal,
  traceContext: texts,
  deps: anything,
  streamId: name,
  principal: anything,
  terms: object,
};

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` naming the option */
export function checkExecution(options: ExecutorStreamOptions): void {
  checkOptions<ExecutorStreamOptions>(options, 'options', execution);
  const { excludeTools, limits, principal } = options;
  if (excludeTools !== undefined) checkNames(excludeTools, 'options.excludeTools');
  if (limits !== undefined) checkLimits(limits, 'options.limits');
  if (principal !== undefined) checkPrincipal(principal, 'options.principal');
}

/** The id that a caller gave, as far as it can be read: what is wrong with it is said at the first `next()`. */
export function streamIdOf(options: ExecutorStreamOptions, makeId: () => string): string {
  try {
    const id: unknown = options.streamId;
    if (typeof id === 'string' && id !== '') return id;
  } catch {
    // Said there, too.
  }
  return makeId();
}

const abort: Shape<AbortTarget> = { reason: text, threadId: text, requestId: text };

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function checkAbort(target: AbortTarget): void {
  checkOptions<AbortTarget>(target, 'abort', abort);
}

const steer: Shape<SteerData> = { content: required(anything), threadId: text, by: object };

/** What `content` holds is the matter of `checkContent`. @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function checkSteer(data: SteerData): void {
  checkShape<SteerData>(data, 'steer', steer);
  if (data.by !== undefined) checkPrincipal(data.by, 'steer.by');
}

const events: Shape<EventsOptions> = { after: text, limit: amount, live: flag };

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function checkEvents(options: EventsOptions): void {
  checkOptions<EventsOptions>(options, 'events', events);
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function checkRequestId(requestId: string): void {
  checkIs(requestId, 'requestId', text);
}
