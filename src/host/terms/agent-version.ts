import { hash } from 'node:crypto';
import type { AgentDescriptor, AnyTool, TurnTerms } from '../../contracts/index.ts';
import { CoxswainError, canonicalJson } from '../../contracts/index.ts';
import { describeTool } from '../../gate/index.ts';

/** What becomes of a turn that meets another version of its agent. */
export type OnAgentChanged = 'go' | 'ask' | 'hold';

/** What a host's options say of its agents' versions. */
interface HostAgents {
  readonly tools?: readonly AnyTool[];
  readonly onAgentChanged?: OnAgentChanged;
}

/** The agent as it is here. */
export interface PresentAgent {
  readonly version: string;
  readonly onChanged: OnAgentChanged;
}

/** Hexadecimal digits of a digest that stands for a version. */
const DIGITS = 16;

const known = new WeakMap<HostAgents, WeakMap<AgentDescriptor, PresentAgent>>();

/** The agent that a tool is, if it is one. */
type AgentOf = (tool: AnyTool) => AgentDescriptor | undefined;

/**
 * The version that its author names; else a digest of what the agent, the host's own tools and the agents among these say of
 * themselves.
 */
export function presentAgent(descriptor: AgentDescriptor, options: HostAgents, agentOf: AgentOf): PresentAgent {
  let ofHost = known.get(options);
  if (!ofHost) {
    ofHost = new WeakMap();
    known.set(options, ofHost);
  }
  let present = ofHost.get(descriptor);
  if (!present) {
    const { version } = descriptor.metadata ?? {};
    present = {
      version: typeof version === 'string' ? version : digestOf(descriptor, options.tools ?? [], agentOf),
      onChanged: options.onAgentChanged ?? 'ask',
    };
    ofHost.set(descriptor, present);
  }
  return present;
}

function digestOf(descriptor: AgentDescriptor, tools: readonly AnyTool[], agentOf: AgentOf): string {
  const agents = tools.flatMap((tool) => agentOf(tool) ?? []);
  const text = canonicalJson({
    descriptor,
    tools: tools.map((tool) => describeTool(tool)),
    ...(agents.length > 0 ? { agents } : {}),
  });
  return hash('sha256', text, 'hex').slice(0, DIGITS);
}

/**
 * Whoever goes on with a turn that another version has begun or held: what the log says of that from here on; undefined:
 * nothing has changed.
 * @throws CoxswainError `FAILED_PRECONDITION / E_AGENT_CHANGED`
 */
export function changedTerms(
  { version: was, approvedFor }: Pick<TurnTerms, 'version' | 'approvedFor'>,
  { version, onChanged }: PresentAgent,
): Pick<TurnTerms, 'version' | 'approvedFor'> | undefined {
  if (was === undefined || was === version) return undefined;
  if (onChanged === 'hold') {
    const message =
      `its turn was begun by version ${was} of the agent, this program has ${version}: a program of that version ` +
      'continues it; or abort it, send a new message, or set onAgentChanged to go or ask';
    throw new CoxswainError('FAILED_PRECONDITION', 'E_AGENT_CHANGED', message, { details: { was, version } });
  }
  const since = onChanged === 'ask' ? version : approvedFor;
  return { version, ...(since === undefined ? {} : { approvedFor: since }) };
}

/** The version to which an approval has to be given to count; undefined: to any. */
export function approvedForVersion(
  { version: was, approvedFor }: Pick<TurnTerms, 'version' | 'approvedFor'>,
  present: PresentAgent | undefined,
): string | undefined {
  if (!present || was === undefined || was === present.version || present.onChanged !== 'ask') return approvedFor;
  return present.version;
}
