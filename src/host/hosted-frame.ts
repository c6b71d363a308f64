import type { PendingRequest, PermissionMode, Principal, ToolDescriptor, TurnTerms } from '../contracts/index.ts';
import type { HostedSession } from './hosted-session.ts';
import type { Judge } from './judge.ts';
import type { ApprovalQuestion, HostOptions } from './options.ts';
import type { Subagent } from './subagent.ts';
import type { HostTool } from './tool-registry.ts';

export interface SharedStanding {
  /** People who have opened it, with the roles that they had last. */
  readonly present: Map<string, Principal>;
  /** What the newest turn was begun with, for executors that keep no terms. */
  begun: TurnTerms | undefined;
}

/** What a hosted session is given by its host. */
export interface HostedFrame {
  readonly options: HostOptions;
  readonly judge: Judge;
  readonly tools: ReadonlyMap<string, HostTool>;
  readonly descriptors: readonly ToolDescriptor[];
  /** Whoever opened this handle. */
  readonly principal: Principal;
  readonly warn: (message: string, error?: unknown) => void;
  /** Set where the session was opened, or by an update that the inner session does not keep. */
  ownMode: PermissionMode | undefined;
  /** What all handles of the session know of it. */
  readonly shared: SharedStanding;
  /** What a turn's own mode comes to: a session's holds too if it is stricter; the host's where neither has one. */
  modeOf(turns: PermissionMode | undefined): PermissionMode | undefined;
  requesterOf(request: PendingRequest): Principal;
  excluded(mode: PermissionMode | undefined): Promise<readonly string[]>;
  remember(option: ApprovalQuestion['approval']['remember'][number]): void;
  /** A question is open. */
  announce(question: ApprovalQuestion): void;
  /** The handle of this session that runs it, in this host. */
  running(): HostedSession | undefined;
  /** Something was answered: all handles of this session look again. */
  wakeAll(): void;
  closed(): void;
  /** Agents above this one. */
  readonly depth: number;
  /** The session of an agent that is called as a tool: the same at each call. */
  openSubagent(agent: Subagent, caller: PendingRequest, callersId: string, create: boolean): Promise<HostedSession>;
  /** One of the tools is an agent. */
  readonly hasSubagents: boolean;
}
