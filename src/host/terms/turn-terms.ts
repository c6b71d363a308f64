import type {
  AnyTool,
  ExecutionOptions,
  PermissionMode,
  PolicyEvaluator,
  Principal,
  SessionStanding,
  TurnTerms,
} from '../../contracts/index.ts';
import { canonicalJson, copyJson } from '../../contracts/index.ts';
import { denyOverrides, describeTool } from '../../gate/index.ts';
import { strictestLimits } from '../../session/index.ts';
import type { PresentAgent } from './agent-version.ts';
import { changedTerms } from './agent-version.ts';
import { isTighter, stricterMode } from './stricter-mode.ts';

/** What one stream is held to, and what its log does not say of it yet. */
export interface HeldTo {
  options: ExecutionOptions;
  /** On whose behalf the turn was begun. */
  principal: Principal;
  news: TurnTerms | undefined;
}

/** A new turn is begun: with what its caller says, on behalf of whoever begins it, in the mode of its host. */
export function beginTurn(
  options: ExecutionOptions,
  who: Principal,
  hostMode: PermissionMode | undefined,
  calledBy?: TurnTerms['calledBy'],
  present?: PresentAgent,
): HeldTo {
  // A host that is stricter than most is so for the whole turn, whoever goes on with it.
  const mode = options.permissionMode ?? (isTighter(hostMode, undefined) ? hostMode : undefined);
  const news = {
    ...written(options, who, mode),
    ...(calledBy ? { calledBy } : {}),
    ...(present ? { version: present.version } : {}),
  };
  return { options: held(options, news), principal: news.principal ?? who, news };
}

/**
 * Somebody goes on with a turn: within what it was begun with, and what they tighten holds from then on. A turn that
 * had ended is opened again with the limits that they name.
 * @throws CoxswainError `FAILED_PRECONDITION / E_AGENT_CHANGED`
 */
export function goOnWithTurn(
  { terms: known = {}, isOver }: SessionStanding,
  options: ExecutionOptions,
  who: Principal,
  hostMode: PermissionMode | undefined,
  present?: PresentAgent,
): HeldTo {
  const changed = present && changedTerms(known, present);
  const says = options.permissionMode ?? options.excludeTools ?? options.limits ?? options.tools ?? options.model;
  const { principal = who } = known;
  if (says === undefined && known.principal) {
    return { options: held(options, known), principal, news: changed && { ...known, ...changed } };
  }
  const { excludeTools: excluded = [] } = options;
  const limits = isOver ? { ...known.limits, ...options.limits } : strictestLimits(known.limits, options.limits);
  const { permissionMode: mode } = options;
  const tightens = stricterMode(known.permissionMode ?? hostMode ?? 'default', mode) === mode;
  const { calledBy, version, approvedFor } = known;
  const again = written(
    {
      excludeTools: [...new Set([...(known.excludeTools ?? []), ...excluded])],
      limits,
      tools: options.tools ?? known.tools,
      model: options.model ?? known.model,
    } as ExecutionOptions,
    principal,
    tightens ? mode : known.permissionMode,
  );
  const now = {
    ...again,
    ...(calledBy ? { calledBy } : {}),
    ...(version === undefined ? {} : { version }),
    ...(approvedFor === undefined ? {} : { approvedFor }),
    ...changed,
  };
  const news = canonicalJson(now) === canonicalJson(known) ? undefined : now;
  return { options: held(options, now), principal, news };
}

function held(options: ExecutionOptions, known: TurnTerms): ExecutionOptions {
  const { principal: _who, calledBy: _call, version: _version, approvedFor: _approved, ...terms } = known;
  const { principal: _, permissionMode: __, ...own } = options;
  // Tools as they were given: what is in the log cannot run.
  return { ...own, ...terms, ...(options.tools ? { tools: options.tools } : {}) } as ExecutionOptions;
}

/** As the log keeps it: nothing of a principal but who it is, no code, no empty words. */
function written(
  { excludeTools, limits, tools, model }: ExecutionOptions,
  { id, roles, onBehalfOf }: Principal,
  mode: PermissionMode | undefined,
): TurnTerms {
  return {
    principal: { id, ...(roles ? { roles: [...roles] } : {}), ...(onBehalfOf === undefined ? {} : { onBehalfOf }) },
    ...(mode === undefined ? {} : { permissionMode: mode }),
    ...(excludeTools && excludeTools.length > 0 ? { excludeTools: [...excludeTools] } : {}),
    ...(limits && Object.keys(limits).length > 0 ? { limits: copyJson(limits, 'limits') } : {}),
    // Frozen: the log may have them.
    ...(tools ? { tools: tools.map((tool) => describeTool(tool as AnyTool)) } : {}),
    ...(model === undefined ? {} : { model }),
  };
}

/**
 * Who asks, as policy is told. Roles that the requester has now differ from those that the turn was begun with: a call
 * runs only if it may with the ones and with the others.
 */
export function onBehalfOf(
  requester: Principal,
  now: Principal | undefined,
  policy: PolicyEvaluator,
): { principal: Principal; policy: PolicyEvaluator } {
  if (!now) return { principal: requester, policy };
  if (rolesOf(now) === rolesOf(requester)) return { principal: now, policy };
  return { principal: requester, policy: forBoth(policy, now) };
}

/** The stricter of what policy says for whoever it is asked about, and for somebody else. */
export function forBoth(policy: PolicyEvaluator, other: Principal | undefined): PolicyEvaluator {
  if (!other) return policy;
  return denyOverrides(policy, {
    evaluate: (request, signal) => policy.evaluate({ ...request, principal: other }, signal),
  });
}

function rolesOf({ roles = [], onBehalfOf: other }: Principal): string {
  return roles.length === 0 && other === undefined ? '' : JSON.stringify([other, [...roles].sort()]);
}
