import type { PolicyRequest } from '../../contracts/index.ts';
import { isForeign } from '../../gate/index.ts';
import { compileArgs } from './args.ts';
import type { Glob } from './glob.ts';
import { compileGlob } from './glob.ts';
import type { PolicyRule } from './rule.ts';
import { isNoneOf, shownValue } from './why.ts';

/** One condition of a rule: the member that it comes from, and whether it holds. */
export interface Condition {
  readonly field: keyof PolicyRule;
  holds(request: PolicyRequest): boolean;
  /** Where it does not hold: behind the name of the member, `: "a" is not "b"`. */
  why(request: PolicyRequest): string;
}

export const asList = (value: string | readonly string[]): readonly string[] =>
  typeof value === 'string' ? [value] : value;

/**
 * All but the one on arguments: what they read is in {@link signatureOf}. What cannot be known widens a rule that
 * restricts and narrows one that allows; `ifUnknown`: the other way.
 */
export function staticConditions(
  rule: PolicyRule,
  trustAnnotations: boolean,
  ifUnknown = rule.outcome !== 'allow',
): Condition[] {
  const restricts = rule.outcome !== 'allow';
  const conditions: Condition[] = [];
  const { mode, kind, source, digest, role, principal, agent, annotations } = rule;
  const add = (field: keyof PolicyRule, holds: Condition['holds'], why: Condition['why']) =>
    conditions.push({ field, holds, why });
  if (mode !== undefined) {
    const modes = new Set<string | undefined>(asList(mode));
    add(
      'mode',
      ({ context }) => modes.has(context?.permissionMode),
      ({ context }) => `: ${isNoneOf(context?.permissionMode, asList(mode))}`,
    );
  }
  if (kind !== undefined) {
    const kinds = new Set<string | undefined>(asList(kind));
    add(
      'kind',
      ({ context }) => kinds.has(context?.resource?.kind),
      ({ context }) => `: ${isNoneOf(context?.resource?.kind, asList(kind))}`,
    );
  }
  if (source !== undefined) {
    const glob = compileGlob(source);
    add(
      'source',
      ({ context }) => {
        const from = context?.resource?.source;
        return from === undefined ? ifUnknown : glob.test(from);
      },
      ({ context }) => `: ${isNoneOf(context?.resource?.source, asList(source))}`,
    );
  }
  if (digest !== undefined) {
    const digests = new Set(asList(digest));
    add(
      'digest',
      ({ context }) => {
        const own = context?.resource?.digest;
        return own === undefined ? ifUnknown : digests.has(own);
      },
      ({ context }) => `: ${isNoneOf(context?.resource?.digest, asList(digest))}`,
    );
  }
  if (role !== undefined) {
    const roles = asList(role);
    add(
      'role',
      ({ principal: held }) => roles.some((wanted) => held?.roles?.includes(wanted) ?? false),
      ({ principal: held }) => `: ${isNoneOf(held?.roles, roles)}`,
    );
  }
  if (principal !== undefined) {
    const glob = compileGlob(principal);
    add(
      'principal',
      (request) => request.principal !== undefined && glob.test(request.principal.id),
      (request) => `: ${isNoneOf(request.principal?.id, asList(principal))}`,
    );
  }
  if (agent !== undefined) {
    const glob = compileGlob(agent);
    add(
      'agent',
      ({ context }) => isAgent(glob, context?.agentPath ?? []),
      ({ context }) => `: ${isNoneOf(context?.agentPath?.join('/'), asList(agent))}`,
    );
  }
  if (annotations !== undefined) {
    const wanted = Object.entries(annotations);
    const isClaimed = ({ context }: PolicyRequest) => !trustAnnotations && isForeign(context?.resource?.source);
    const actual = ({ context }: PolicyRequest, name: string) =>
      // A hint that is not given says no, which is enough to restrict a tool and not enough to allow it.
      (context?.resource?.annotations as Record<string, unknown> | undefined)?.[name] ??
      (restricts ? false : undefined);
    add(
      'annotations',
      (request) => (isClaimed(request) ? ifUnknown : wanted.every(([name, value]) => actual(request, name) === value)),
      (request) => {
        if (isClaimed(request)) return ': those of a third-party tool are not trusted';
        const [name, value] = wanted.find(([name, value]) => actual(request, name) !== value) ?? [];
        const found = name === undefined ? undefined : actual(request, name);
        const fault =
          found === undefined
            ? `is absent, must be ${shownValue(value)}`
            : `${shownValue(found)} is not ${shownValue(value)}`;
        return ` ${name}: ${fault}`;
      },
    );
  }
  return conditions;
}

/** @throws Error with a readable message for a condition that cannot be compiled */
export function argsCondition(rule: PolicyRule, isStrict = rule.outcome === 'allow'): Condition | undefined {
  if (rule.args === undefined) return undefined;
  const test = compileArgs(rule.args, isStrict);
  return {
    field: 'args',
    holds: (request) => test.fits(request.args ?? {}),
    why: (request) => {
      const why = test.why(request.args ?? {});
      return why.startsWith('/') ? ` ${why}` : why;
    },
  };
}

function isAgent(glob: Glob, path: readonly string[]): boolean {
  const own = path.at(-1);
  return own !== undefined && (glob.test(path.join('/')) || glob.test(own));
}

/**
 * Everything that static conditions can read of a request, as one text: requests of one text meet the same ones.
 * `names` are the annotations that some rule speaks about. Undefined for a request that is not as its type says.
 */
export function signatureOf(
  { action, principal, context }: PolicyRequest,
  names: readonly string[],
): string | undefined {
  const { permissionMode, agentPath, resource } = context ?? {};
  const roles = principal?.roles;
  if (!isListOrAbsent(roles) || !isListOrAbsent(agentPath)) return undefined;
  const read = [
    action,
    principal?.id,
    roles,
    permissionMode,
    agentPath,
    resource?.kind,
    resource?.source,
    resource?.digest,
  ];
  if (names.length > 0) {
    const actual = (resource?.annotations ?? {}) as Record<string, unknown>;
    for (const name of names) read.push(valueSign(actual[name]));
  }
  // As JSON, so that no two requests run into one another whatever their texts hold.
  return JSON.stringify(read);
}

const isListOrAbsent = (value: unknown): boolean => value === undefined || Array.isArray(value);

/** Rules name plain values: everything else is equal to none of them, but is not absent either. */
function valueSign(value: unknown): string {
  if (value === undefined || value === null) return '-';
  const type = typeof value;
  return type === 'boolean' || type === 'string' || type === 'number' ? `${type[0]}${String(value)}` : '?';
}
