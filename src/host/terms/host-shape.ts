import type { AgentSource, AnswerLimits, ApproverRule, SessionRef } from '../../contracts/index.ts';
import type { Check, Shape } from '../../session/index.ts';
import {
  amount,
  answerLimits,
  anything,
  checkHooks,
  checkLimits,
  checkOptions,
  checkPrincipal,
  either,
  flag,
  fn,
  having,
  list,
  listOf,
  name,
  object,
  oneOf,
  permissionMode,
  required,
  text,
} from '../../session/index.ts';
import type { AdmissionLimits } from './admission.ts';
import type { AuditOptions, HostOptions, OpenOptions } from './options.ts';

/** What decides must be able to: a policy that is none would be found out at the first call. */
export const policy = having('evaluate');
const hooks = having('fire', 'supportedHookPoints');
const provider: Check = {
  needs: 'a tool provider: an object with a name, getToolsForAgent() and execute()',
  fits: (value) =>
    having('getToolsForAgent', 'execute').fits(value) &&
    name.fits((value as Record<string, unknown>).name) &&
    ['undefined', 'string'].includes(typeof (value as Record<string, unknown>).source),
};

export const source: Check = {
  needs: 'an agent source, e.g. fromAgent(agent)',
  fits: (value) => having('open').fits(value) && name.fits((value as Partial<AgentSource>).descriptor?.name),
};

const approvers: Shape<ApproverRule> = {
  roles: listOf(name),
  also: listOf(listOf(name)),
  notRequester: flag,
  quorum: { needs: 'a whole number from 1', fits: (value) => Number.isInteger(value) && Number(value) >= 1 },
};

const atLeastOne: Check = {
  ...amount,
  needs: 'a number from 1',
  fits: (value) => amount.fits(value) && Number(value) >= 1,
};

const admission: Shape<AdmissionLimits> = { turns: atLeastOne, memoryBytes: atLeastOne, retryAfterMs: atLeastOne };

const host: Shape<HostOptions> = {
  app: anything,
  agents: required(listOf(source)),
  tools: list,
  toolProviders: listOf(provider),
  policy,
  policyTimeoutMs: amount,
  hooks,
  hookTimeoutMs: amount,
  store: object,
  sessions: object,
  credentials: object,
  models: either(fn, object),
  limits: object,
  answerLimits: object,
  prices: object,
  deps: anything,
  userId: anything,
  principal: object,
  permissionMode,
  interactive: flag,
  onApproval: fn,
  approvers: object,
  onElicitation: fn,
  onAgentChanged: oneOf('go', 'ask', 'hold'),
  toolTimeoutMs: amount,
  toolConcurrency: atLeastOne,
  maxResultBytes: amount,
  spill: fn,
  approvalPollMs: amount,
  followPollMs: amount,
  bus: having('publish', 'subscribe'),
  dispatcher: having('wake', 'schedule', 'serve', 'close'),
  admission: object,
  outcomes: having('takesAnswer', 'deliver'),
  telemetry: having('startSpan'),
  warn: fn,
};

/**
 * A host that is told something it does not know is not the host that somebody meant: what it was to be kept from, it
 * would do.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 */
export function checkHost(options: HostOptions): void {
  const where = 'createHost: options';
  checkOptions<HostOptions>(options, where, host);
  if (options.principal !== undefined) checkPrincipal(options.principal, `${where}.principal`);
  if (options.approvers !== undefined) {
    checkOptions<ApproverRule>(options.approvers, `${where}.approvers`, approvers);
  }
  if (options.admission !== undefined) {
    checkOptions<AdmissionLimits>(options.admission, `${where}.admission`, admission);
  }
  if (options.hooks !== undefined) checkHooks(options.hooks, `${where}.hooks`);
  if (options.limits !== undefined) checkLimits(options.limits, `${where}.limits`);
  if (options.answerLimits !== undefined) {
    checkOptions<AnswerLimits>(options.answerLimits, `${where}.answerLimits`, answerLimits);
  }
}

const ref: Shape<SessionRef> = {
  sessionId: anything,
  snapshot: object,
  create: flag,
  fork: either(flag, object),
  state: object,
  ephemeral: flag,
};
const open: Shape<OpenOptions> = { ...ref, principal: object, userId: anything, permissionMode };

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function checkOpen(options: OpenOptions): void {
  checkOptions<OpenOptions>(options, 'open: options', open);
}

type WorkTerms = { concurrency?: number; lookMs?: number; silentMs?: number; maxDeaths?: number };
const work: Shape<WorkTerms> = {
  concurrency: atLeastOne,
  lookMs: atLeastOne,
  silentMs: atLeastOne,
  maxDeaths: atLeastOne,
};

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function checkWork(options: object): void {
  checkOptions<WorkTerms>(options, 'work: options', work);
}

const audit: Shape<AuditOptions> = { viewer: object, rules: list, reveal: list, userId: text };

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function checkAudit(options: AuditOptions): void {
  checkOptions<AuditOptions>(options, 'audit: options', audit);
  if (options.viewer !== undefined) checkPrincipal(options.viewer, 'audit: options.viewer');
}
