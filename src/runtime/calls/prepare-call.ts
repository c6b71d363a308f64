import { newId, untilAborted } from '../../base/index.ts';
import type { FunctionCallPart, FunctionResponsePart, ToolResult } from '../../contracts/index.ts';
import { CoxswainError, copyJson, deepFreeze, messageOf } from '../../contracts/index.ts';
import type { ApprovalFloor } from '../../gate/index.ts';
import {
  askHook,
  deniedResult,
  ensureValidator,
  errorResult,
  floorFor,
  normaliseReturn,
  toolDigest,
  toResponse,
  validatedInTime,
  valueInstead,
} from '../../gate/index.ts';
import type { AgentContext, BoundedAnswer, ResolvedTool, ToolMap } from '../agent/index.ts';
import { boundedAnswer, isHostRun, keepWrites, notFound, validateCall, withBounded } from '../agent/index.ts';
import type { HookChain } from '../hooks/index.ts';
import { signalsOf, ToolContext } from '../hooks/index.ts';
import type { StoredEvent } from '../log/index.ts';
import { noteOn, withoutNotes } from '../log/index.ts';
import { hooksBehind } from './tool-hooks.ts';

export interface Prepared {
  call: FunctionCallPart;
  /** The call cannot run: what it is answered with. */
  refusal?: FunctionResponsePart;
  /** The result of a hook that the refusal was made of, with what is kept of it. */
  bounded?: BoundedAnswer;
}

/** The events that answer the calls which cannot run. */
export function refusalEvents(context: AgentContext, prepared: readonly Prepared[]): StoredEvent[] {
  return prepared.flatMap(({ refusal: part, bounded }) => {
    if (!part) return [];
    const event = context.event({ id: `res:${part.id}`, content: { role: 'user', parts: [part] } });
    return [bounded ? withBounded(event, bounded) : event];
  });
}

export async function prepareCall(
  context: AgentContext,
  part: FunctionCallPart,
  tools: ToolMap,
  hooks: HookChain,
  truncated: boolean,
): Promise<Prepared> {
  const call: FunctionCallPart = { type: 'function_call', id: newId(), name: part.name, args: {} };
  const meta = metaOf(part);
  if (meta) call._meta = meta;
  const loading = ensureValidator();
  if (loading) await loading;
  const resolved = tools.get(part.name);
  if (truncated || !resolved) {
    keepArgs(call, part.args);
    const result = truncated
      ? errorResult('truncated', 'the answer was cut at the output limit; nothing of it ran. Ask for less at once.')
      : notFound(part.name, tools);
    const recovered = resolved ? undefined : await askAboutUnknown(context, call, hooks);
    if (recovered) noteOn(call, { hooked: true });
    return recovered ? answeredWith(call, recovered) : { call, refusal: answerTo(call, result) };
  }
  const hostRun = isHostRun(resolved);
  if (hostRun) noteOn(call, { handledBy: 'host' });
  const { kind, annotations } = resolved.descriptor;
  // A host sees nothing else of a tool that it does not run: what it decides on must tell a changed one from this.
  const digest = context.invocation.hostRuns && !hostRun ? toolDigest(resolved.descriptor) : undefined;
  if (kind !== undefined || annotations || digest !== undefined) {
    noteOn(call, {
      tool: {
        ...(kind === undefined ? {} : { kind }),
        ...(annotations ? { annotations } : {}),
        ...(digest === undefined ? {} : { digest }),
      },
    });
  }
  const checking = validatedInTime(validateCall(resolved, part.args, context.invocation), context.signal);
  const checked = checking instanceof Promise ? await checking : checking;
  if (!checked.ok) {
    keepArgs(call, part.args);
    return { call, refusal: answerTo(call, errorResult('invalid_args', checked.message)) };
  }
  // Hooks return other arguments, which are checked; what they changed in place would not be.
  call.args = deepFreeze(checked.args);
  if (!context.invocation.hostRuns && !hostRun) return { call };
  const asking = floorOf(context, call, resolved);
  const floor = asking && (await asking);
  if (floor !== undefined) noteOn(call, { ask: floor });
  return hooks.has('beforeTool') ? hookBeforeAnnouncement(context, call, resolved, hooks) : { call };
}

function metaOf({ _meta }: FunctionCallPart): FunctionCallPart['_meta'] {
  if (!_meta) return undefined;
  const meta = withoutNotes(copyJson(_meta, 'call _meta'));
  return Object.keys(meta).length > 0 ? meta : undefined;
}

/** The author's floor travels with the announcement: the host must ask, whatever its policy says. */
function floorOf(
  context: AgentContext,
  call: FunctionCallPart,
  { tool }: ResolvedTool,
): Promise<string | undefined> | undefined {
  const { signal } = context;
  const floor = floorFor(tool?.needsApproval, () => {
    const { callId, sessionId, sessionUid, userId, principal, agentPath, deps } = ToolContext.ofHooks(context, call);
    return { callId, sessionId, sessionUid, userId, principal, agentPath, deps, signal };
  });
  return floor === undefined || floor === false ? undefined : askAuthor(floor, call.args, signal);
}

async function askAuthor(
  floor: Exclude<ApprovalFloor, false>,
  args: Record<string, unknown>,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return floor === true || (await untilAborted(floor(args), signal)) ? 'the tool asks for approval' : undefined;
  } catch (error) {
    return `the tool could not say whether it needs approval: ${messageOf(error)}`;
  }
}

/** What is approved is what runs: hooks see a call before a host is asked about it. */
async function hookBeforeAnnouncement(
  context: AgentContext,
  call: FunctionCallPart,
  resolved: ResolvedTool,
  hooks: HookChain,
): Promise<Prepared> {
  const toolContext = ToolContext.ofHooks(context, call, resolved.source);
  const answer = await askHook(
    (args) => hooks.first('beforeTool', toolContext, resolved.descriptor, args) as Promise<unknown>,
    call.args,
    context.signal,
  );
  await keepWrites(context, toolContext);
  const asked = toolContext.effects.confirmation;
  const signals = signalsOf(toolContext.effects);
  noteOn(call, {
    hooked: true,
    ...(asked ? { ask: asked.hint ?? 'a hook asks for confirmation', asked } : {}),
    ...(signals ? { signals } : {}),
  });
  // Whether it would run unasked is for the host to say, later: then it runs.
  if (answer.kind === 'result' && answer.ifAllowed) return { call };
  if (answer.kind === 'result')
    return answeredWith(call, await boundedAnswer(context.invocation, call.id, normaliseReturn(answer.value)));
  if (answer.kind === 'block') return { call, refusal: answerTo(call, deniedResult(answer.reason)) };
  if (answer.kind === 'unfit') return { call, refusal: unfitArgs(call, answer.reason) };
  if (!answer.args) return { call };
  const checked = await validatedInTime(validateCall(resolved, answer.args, context.invocation), context.signal);
  if (!checked.ok) {
    return { call, refusal: unfitArgs(call, checked.message) };
  }
  noteOn(call, { rawArgs: call.args });
  call.args = checked.args;
  return { call };
}

const unfitArgs = (call: FunctionCallPart, message: string) =>
  answerTo(call, errorResult('invalid_args', `a hook's arguments do not fit: ${message}`));

/** Arguments that will not run are kept as far as they are JSON; the rest as text. */
function keepArgs(call: FunctionCallPart, args: unknown): void {
  try {
    const copy = copyJson(args, 'arguments');
    if (typeof copy === 'object' && copy !== null && !Array.isArray(copy)) {
      call.args = copy as Record<string, unknown>;
      return;
    }
    noteOn(call, { rawArgs: copy });
  } catch (error) {
    noteOn(call, { rawArgs: messageOf(error) });
  }
}

/** The hooks hear of a call to a tool that is not there, and may have a result for it. */
async function askAboutUnknown(
  context: AgentContext,
  call: FunctionCallPart,
  hooks: HookChain,
): Promise<BoundedAnswer | undefined> {
  if (!hooks.has('onToolError')) return undefined;
  const descriptor = { name: call.name, description: '', inputSchema: {} };
  const error = new CoxswainError('NOT_FOUND', 'E_TOOL', `there is no tool ${call.name}`);
  const toolContext = ToolContext.ofHooks(context, call);
  const behind = hooksBehind(context, toolContext, { descriptor, args: call.args }, hooks);
  const value = await valueInstead(error, behind);
  await keepWrites(context, toolContext);
  return value === undefined ? undefined : boundedAnswer(context.invocation, call.id, normaliseReturn(value));
}

function answeredWith(call: FunctionCallPart, bounded: BoundedAnswer): Prepared {
  return { call, refusal: answerTo(call, bounded.result), bounded };
}

function answerTo(call: FunctionCallPart, result: ToolResult): FunctionResponsePart {
  const { response, content } = toResponse(result);
  const truncated = result._meta?.truncated;
  return {
    type: 'function_response',
    id: call.id,
    name: call.name,
    response,
    ...(content ? { content } : {}),
    ...(result.isError ? { isError: true } : {}),
    ...(result.errorType === undefined ? {} : { errorType: result.errorType }),
    ...(truncated === undefined ? {} : { _meta: { truncated } }),
  };
}
