import type { AgentSession, PermissionMode, PolicyEvaluator, RememberOption } from '../../contracts/index.ts';
import { isPipeable } from '../../session/index.ts';
import type { PolicyRule, RulePolicy } from '../policy/index.ts';
import { presetPolicy, rulePolicy, underMode } from '../policy/index.ts';

/** Whose "always" answers are meant: a user's, and those of one session of theirs. */
export interface RememberedFor {
  userId: string;
  /** The agent that the session was opened with: another one's sessions are others, whatever their ids. */
  agent: string;
  sessionId: string;
  /** Kept nowhere: another one than the session of this id that is in the store. */
  ephemeral?: boolean | undefined;
  /**
   * `CallInfo.sessionUid` of the session as it stands, '' before its first event: what was said in another one of its id does
   * not hold in it. Undefined of an executor that is not this package's: its sessions are told apart when they are opened.
   */
  uid?: string | undefined;
}

/** The same lists as long as nothing is added or forgotten. */
export interface Remembered {
  readonly user: readonly PolicyRule[];
  readonly session: readonly PolicyRule[];
}

/** Beyond this the oldest are forgotten, which is to say asked about again. */
const MAX_RULES = 1_000;
const MAX_KEYS = 10_000;

const NONE: readonly PolicyRule[] = [];

interface SessionRules {
  rules: readonly PolicyRule[];
  /** {@link firstOf} its log: what tells the session from one that is made again under its id. */
  first: string | undefined;
}

/** "Always" answers of people: rules at the session or user tier, for as long as the session or the host lives. */
export class RememberedRules {
  readonly #user = new Map<string, readonly PolicyRule[]>();
  readonly #session = new Map<string, SessionRules>();

  /** @param first {@link firstOf} the session's log */
  add(place: RememberedFor, option: RememberOption, first: string | undefined): void {
    const rule = option.rule as unknown as PolicyRule;
    if (option.scope === 'user') {
      keep(this.#user, place.userId, withRule(this.#user.get(place.userId), rule));
      return;
    }
    const known = this.#session.get(keyOf(place));
    const rules = known?.first === first ? known?.rules : undefined;
    keep(this.#session, keyOf(place), { rules: withRule(rules, rule), first });
  }

  of(place: RememberedFor): Remembered {
    const known = this.#session.get(keyOf(place));
    const isOther = place.uid !== undefined && known?.first !== place.uid;
    return {
      user: this.#user.get(place.userId) ?? NONE,
      session: (isOther ? undefined : known?.rules) ?? NONE,
    };
  }

  /** A session is opened, perhaps again: what was said in another one of its id does not hold in it. */
  async opened(place: RememberedFor, session: AgentSession): Promise<void> {
    // Of what has a uid the rules are told apart wherever they are asked for.
    const known = isPipeable(session) ? undefined : this.#session.get(keyOf(place));
    if (known && (known.first === undefined || known.first !== (await firstOf(session)))) this.forget(place);
  }

  /** The session is over. */
  forget(place: RememberedFor): void {
    this.#session.delete(keyOf(place));
  }
}

/** What tells a session from one that is made again under its id; undefined where nothing does. */
export async function firstOf(session: AgentSession): Promise<string | undefined> {
  if (isPipeable(session)) return session.uid;
  try {
    for await (const { id } of session.events({ limit: 1 })) return id;
  } catch {
    // As much as is known.
  }
  return undefined;
}

const keyOf = ({ userId, agent, sessionId, ephemeral = false }: RememberedFor): string =>
  JSON.stringify([userId, agent, sessionId, ephemeral]);

/** A yes to a tool that is another now takes the place of the yes to what it was. */
function withRule(rules: readonly PolicyRule[] = [], rule: PolicyRule): readonly PolicyRule[] {
  return [...rules.filter(({ id }) => id !== rule.id), rule].slice(-MAX_RULES);
}

function keep<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= MAX_KEYS) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}

/** Safe by default: readOnly tools run, the rest asks. */
export function defaultPolicy(): RulePolicy {
  return rulePolicy([], { fallback: presetPolicy('default') });
}

/**
 * The policy of one session: the host's, with remembered answers where it takes rules (a lower tier may only tighten
 * what a higher one says, unless that rule is overridable), under the session's mode.
 */
export function sessionPolicy(
  base: PolicyEvaluator,
  remembered: Remembered,
  mode: PermissionMode | undefined,
): PolicyEvaluator {
  let policy = base;
  if (isRulePolicy(base)) {
    let rules = base;
    for (const rule of remembered.user) rules = rules.with(rule, 'user');
    for (const rule of remembered.session) rules = rules.with(rule, 'session');
    policy = rules;
  }
  return underMode(policy, mode);
}

export function isRulePolicy(policy: PolicyEvaluator): policy is RulePolicy {
  return 'with' in policy && 'warnings' in policy;
}
