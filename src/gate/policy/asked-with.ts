import type { DecisionRecord, PolicyRequest, Principal } from '../../contracts/index.ts';
import type { GateCall, GateRules } from './gate-call.ts';
import { toolDigest } from './tool-digest.ts';

/** What a policy is asked with besides tool, arguments and session. */
export type AskedWith = NonNullable<DecisionRecord['asked']>;

/** `args`: those that it was asked about, where they are not the call's. */
export function policyAskedWith(
  { tool, source, digest = toolDigest(tool), agentPath }: GateCall,
  { principal, permissionMode, interactive = false, usage }: GateRules,
  args?: Record<string, unknown>,
): AskedWith {
  const { kind, annotations } = tool;
  const asked: AskedWith = { source, digest, agentPath: [...agentPath], interactive };
  if (principal) {
    // Whatever else it carries may be nothing for a log.
    const { id, roles, onBehalfOf } = principal;
    asked.principal = { id };
    if (roles) asked.principal.roles = [...roles];
    if (onBehalfOf !== undefined) asked.principal.onBehalfOf = onBehalfOf;
  }
  if (kind !== undefined) asked.kind = kind;
  if (annotations) asked.annotations = annotations;
  if (permissionMode !== undefined) asked.permissionMode = permissionMode;
  if (usage) asked.usage = usage;
  if (args) asked.args = args;
  return asked;
}

/**
 * The request that was, or would be, made of it. Frozen, as policies that decide together are given the same one, and
 * one of them may be on trial only.
 */
export function requestOf(
  name: string,
  args: Record<string, unknown>,
  { principal, source, digest, kind, annotations, agentPath, permissionMode, interactive, usage }: AskedWith,
  sessionId: string,
): PolicyRequest {
  const path = Object.freeze([...agentPath]) as string[];
  const resource = {
    type: 'tool',
    id: name,
    ...(source === undefined ? {} : { source }),
    ...(digest === undefined ? {} : { digest }),
    ...(kind === undefined ? {} : { kind }),
    ...(annotations ? { annotations } : {}),
  };
  const context = {
    resource: Object.freeze(resource),
    session: Object.freeze({ id: sessionId, ...usage }),
    agentPath: path,
    ...(permissionMode === undefined ? {} : { permissionMode }),
    interactive,
  };
  return Object.freeze({
    action: name,
    args,
    ...(principal ? { principal: frozenPrincipal(principal) } : {}),
    principalPath: principal === undefined ? path : (Object.freeze([principal.id, ...path]) as string[]),
    context: Object.freeze(context),
  });
}

/** A copy that nobody can change, whose other members are its host's. */
export function frozenPrincipal(principal: Principal): Principal {
  const { roles } = principal;
  return Object.freeze({ ...principal, ...(roles ? { roles: Object.freeze([...roles]) as string[] } : {}) });
}
