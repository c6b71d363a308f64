import type {
  AnyAgentTool,
  ApproverRule,
  CallInfo,
  ConfirmationRequest,
  PolicyEvaluator,
  Principal,
  ToolDescriptor,
} from '../../contracts/index.ts';
import type { ValidatedArgs } from '../schema/index.ts';

/** A valid call of a known tool. */
export interface GateCall {
  callId: string;
  args: Record<string, unknown>;
  /** Where the tool's schema made others of them: what the log has as the call's arguments. */
  announced?: Record<string, unknown>;
  tool: ToolDescriptor;
  /** Where the tool comes from: `host`, `agent:<name>`, `mcp:<server>`. */
  source: string;
  /** What it is besides name and source; default: {@link toolDigest} of `tool`. */
  digest?: string;
  /** Agents from the root to the caller. */
  agentPath: readonly string[];
  sessionId: string;
}

/** An author's floor for one call: whether these arguments need an approval. */
export type ApprovalFloor = boolean | ((args: Record<string, unknown>) => boolean | Promise<boolean>);

/** The floor of a tool's author for one call. `info` is asked when the author is. */
export function floorFor(
  needsApproval: AnyAgentTool['needsApproval'],
  info: () => CallInfo,
): ApprovalFloor | undefined {
  return typeof needsApproval === 'function' ? (args) => needsApproval(args, info()) : needsApproval;
}

/** Who decides, and on what grounds. */
export interface GateRules {
  policy?: PolicyEvaluator | undefined;
  policyTimeoutMs?: number | undefined;
  /** Who answers where policy asks and names nobody. */
  approvers?: ApproverRule | undefined;
  principal?: Principal | undefined;
  permissionMode?: string | undefined;
  /** Somebody can be asked. */
  interactive?: boolean | undefined;
  /** Calls and cost of the session so far. */
  usage?: { calls: number; usd?: number } | undefined;
  signal?: AbortSignal | undefined;
  /** A host has judged what was approved: other arguments than those may not run. */
  isJudged?: boolean | undefined;
  /** The author's floor, which knows for whom the call is. */
  needsApproval?: ApprovalFloor | undefined;
  /** The before_tool hooks; not given where they have run. */
  beforeTool?: ((args: Record<string, unknown>) => Promise<unknown>) | undefined;
  /** What the before_tool hooks asked for, once they have run. */
  hookAsked?: (() => ConfirmationRequest | undefined) | undefined;
  /** Checks arguments that a hook or a person changed, and those that were judged before. */
  validate(args: unknown): ValidatedArgs | Promise<ValidatedArgs>;
}
