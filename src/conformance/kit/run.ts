import { isCoxswainError, messageOf } from '../../contracts/index.ts';
import { Breach, Untestable } from './breach.ts';
import { RequirementCheck } from './check.ts';
import { Deadline } from './deadline.ts';
import type { RunOptions } from './kit-shape.ts';
import { kitInput } from './kit-shape.ts';
import type { Requirement, Tier } from './requirement.ts';
import type { ConformanceTarget, RunningExecutor } from './target.ts';

/** `untested`: not advertised, or it gives no way to be judged. A mandatory one is never that: it fails. */
export type Status = 'passed' | 'failed' | 'untested';

export interface Finding {
  id: string;
  title: string;
  tier: Tier;
  cites: string;
  status: Status;
  /** Of a failure. */
  expected?: string;
  found?: string;
  /** Why it was not tested, or the fact that it tells. */
  note?: string;
  /** The requirement without which it could not be tested, and which fails. */
  needs?: string;
  /** What went over the contract, of a failure. */
  transcript: readonly string[];
}

const DEFAULT_DEADLINE_MS = 10_000;

/**
 * Tests one requirement on a fresh executor. What the executor does is in the finding, whatever it throws.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for what is no requirement or target
 */
export async function judge(
  requirement: Requirement,
  target: ConformanceTarget,
  options: RunOptions = {},
): Promise<Finding> {
  kitInput.requirement(requirement);
  kitInput.target(target);
  kitInput.options(options);
  const deadlineMs = options.deadlineMs ?? DEFAULT_DEADLINE_MS;
  const { id, title, tier, cites, policy } = requirement;
  const base = { id, title, tier, cites };
  let executor: RunningExecutor;
  const over = new AbortController();
  const starting = Promise.resolve().then(() => target.start({ ...(policy ? { policy } : {}), signal: over.signal }));
  try {
    executor = await new Deadline(deadlineMs).within(starting, 'an executor that starts');
  } catch (error) {
    // One that comes too late is closed: its own failure is of no interest any more.
    void starting.then((late) => late.close?.()).catch(() => {});
    over.abort();
    const found = error instanceof Breach ? error.found : told(error);
    return { ...base, status: 'failed', expected: 'an executor that starts', found, transcript: [] };
  }
  const check = new RequirementCheck(executor, deadlineMs, over.signal);
  try {
    const note = await attempt(requirement, check);
    return { ...base, status: 'passed', ...(note === undefined ? {} : { note }), transcript: [] };
  } catch (error) {
    const transcript = check.transcript.lines;
    if (error instanceof Untestable) {
      if (tier !== 'MANDATORY') return { ...base, status: 'untested', note: error.message, transcript: [] };
      const found = `it could not be tested: ${error.message}`;
      return { ...base, status: 'failed', expected: 'a mandatory requirement to be tested', found, transcript };
    }
    const breach = error instanceof Breach ? error : new Breach('no error', told(error));
    return { ...base, status: 'failed', expected: breach.expected, found: breach.found, transcript };
  } finally {
    await check.finish();
    over.abort();
  }
}

async function attempt(requirement: Requirement, check: RequirementCheck): Promise<string | undefined> {
  if (requirement.policy) {
    if (!check.governed) throw new Untestable('it is not opened under a policy of the kit');
  } else if (requirement.capability === 'model_server') {
    await asksTheModelServer(check);
  } else if (requirement.capability !== undefined) {
    // Capabilities stand in the descriptor, which a session has.
    check.needs(await check.open(), requirement.capability);
  }
  return (await requirement.check(check)) ?? undefined;
}

/** Not the executor's to advertise: whether its model is the kit's is seen by whether it asks. */
async function asksTheModelServer(check: RequirementCheck): Promise<void> {
  const { requests } = check.models;
  const before = requests.length;
  await (await check.open()).say('cx: say who answers');
  if (requests.length === before) throw new Untestable('its model is another one: the model server was not asked');
}

function told(error: unknown): string {
  if (isCoxswainError(error)) return `${error.status} / ${error.code}: ${error.message}`;
  return error instanceof Error ? `${error.name}: ${messageOf(error)}` : messageOf(error);
}

/**
 * Tests all requirements, one after another; `signal` stops between two. Those that others need come first; where one
 * of them fails, the others are not tested, so that one fault is one failure.
 * @example
 * ```ts
 * import { requirements, runConformance, targetOfCommand } from 'coxswain/conformance';
 *
 * const target = targetOfCommand(['python3', 'executor.py']);
 * for (const { id, status, found } of await runConformance(requirements, target)) console.log(id, status, found);
 * ```
 */
export async function runConformance(
  requirements: readonly Requirement[],
  target: ConformanceTarget,
  options: RunOptions & { onFinding?: (finding: Finding) => void; signal?: AbortSignal } = {},
): Promise<Finding[]> {
  kitInput.requirements(requirements);
  kitInput.target(target);
  kitInput.options(options);
  const findings = new Map<string, Finding>();
  const inOrder = requirements.toSorted((a, b) => rank(a, requirements) - rank(b, requirements));
  for (const requirement of inOrder) {
    if (options.signal?.aborted) break;
    const missing = requirement.needs?.find((id) => isMissing(findings.get(id), options.known));
    const finding = missing === undefined ? await judge(requirement, target, options) : untried(requirement, missing);
    findings.set(requirement.id, finding);
    options.onFinding?.(finding);
  }
  return requirements.flatMap(({ id }) => findings.get(id) ?? []);
}

/** What others need goes first, and what needs nothing of it before the rest. */
function rank({ id, needs = [] }: Requirement, all: readonly Requirement[]): number {
  return all.some((other) => other.needs?.includes(id)) ? needs.length : Number.MAX_SAFE_INTEGER;
}

function isMissing(finding: Finding | undefined, known: readonly string[] = []): boolean {
  return finding !== undefined && finding.status !== 'passed' && !known.includes(finding.needs ?? finding.id);
}

/** Of a requirement that cannot be tested, since another one fails. */
export function untried({ id, title, tier, cites }: Requirement, needs: string): Finding {
  return { id, title, tier, cites, status: 'untested', note: `needs ${needs}, which fails`, needs, transcript: [] };
}

/** A finding that makes an executor non-conformant: an advisory one never does. */
export function isFailure({ status, tier }: Finding): boolean {
  return status === 'failed' && (tier === 'MANDATORY' || tier === 'CAPABILITY');
}
