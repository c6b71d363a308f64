import type { AuthConfig, ToolResult } from '../../contracts/index.ts';
import { agentQuestionId } from '../../contracts/index.ts';
import { expiryFromNow, toResponse } from '../../gate/index.ts';
import type { AgentContext } from '../agent/index.ts';
import { mayRepeat } from '../agent/index.ts';
import type { ToolContext } from '../hooks/index.ts';
import { signalsOf } from '../hooks/index.ts';
import type { Ask, CallState, EventActions, StoredEvent } from '../log/index.ts';
import { responseEvent } from '../log/index.ts';
import type { ReadyCall } from './ready-call.ts';
import { newDecisions } from './ready-call.ts';

/** What a call has come to, beside what its handler did through its context. */
export interface CallOutcome {
  result: ToolResult;
  actions?: Partial<EventActions>;
  /** The agent that it ran is not gone on with: all that it waits for is closed with the call. */
  abandons?: string;
  /** Its handler has ended by itself. */
  hasEnded?: boolean;
}

/**
 * What is stored of a call that has run: its response, or what it asks before it can have one. The credentials that it
 * was given are in none of it.
 */
export function outcomeEvents(
  context: AgentContext,
  ready: ReadyCall,
  toolContext: ToolContext,
  outcome: CallOutcome,
): StoredEvent[] {
  const events = eventsOf(context, ready, toolContext, outcome);
  return toolContext.hasSecrets ? events.map((event) => hidden(event, toolContext)) : events;
}

function hidden(event: StoredEvent, toolContext: ToolContext): StoredEvent {
  const { content, actions } = event;
  const { asks, interim, requestedToolConfirmations } = actions;
  const told = toolContext.withoutSecrets({ content, asks, interim, requestedToolConfirmations });
  const { content: words, ...marks } = told;
  const given = Object.entries(marks).filter(([, mark]) => mark !== undefined);
  return { ...event, ...(words ? { content: words } : {}), actions: { ...actions, ...Object.fromEntries(given) } };
}

function eventsOf(
  context: AgentContext,
  ready: ReadyCall,
  toolContext: ToolContext,
  outcome: CallOutcome,
): StoredEvent[] {
  const { call, resolved, decision } = ready;
  const { effects, state, artifactDelta } = toolContext;
  const actions: Partial<EventActions> = { ...outcome.actions };
  if (Object.keys(state.delta).length > 0) actions.stateDelta = { ...actions.stateDelta, ...state.delta };
  if (Object.keys(artifactDelta).length > 0) actions.artifactDelta = artifactDelta;
  if (effects.credential) {
    actions.asks = [credentialAsk(call, effects.credential)];
    actions.requestedAuthConfigs = { [call.id]: { ...effects.credential } };
    return [context.event({ actions })];
  }
  if (effects.confirmation) {
    const { hint, payload } = effects.confirmation;
    const expiresAt = expiryFromNow(effects.confirmation);
    actions.asks = [
      {
        requestId: agentQuestionId(call.id, call.asks.length),
        callId: call.id,
        kind: 'tool_confirmation',
        message: hint ?? `Run ${call.name}?`,
        context: payload === undefined ? {} : { payload },
        ...(decision.record.args ? { args: decision.record.args } : {}),
        ...(expiresAt === undefined ? {} : { expiresAt }),
      },
    ];
    actions.requestedToolConfirmations = { [call.id]: { ...effects.confirmation } };
    return [context.event({ actions })];
  }
  Object.assign(actions, ready.signals, signalsOf(effects));
  if (mayRepeat(resolved)) {
    const { decisions } = newDecisions([ready]);
    if (decisions) actions.decisions = { ...actions.decisions, ...decisions };
  }
  // One that could not begin is over: nobody will come with a result for it.
  if (resolved.descriptor.annotations?.longRunning && !outcome.result.isError) {
    const interim = outcome.result.content.length > 0 ? toResponse(outcome.result).response : {};
    return [context.event({ actions: { ...actions, interim: { [call.id]: interim } } })];
  }
  const stored = context.event({ actions });
  return [{ ...responseEvent(call, outcome.result, context.invocation.origin()), actions: stored.actions }];
}

function credentialAsk(call: CallState, config: AuthConfig): Ask {
  return {
    requestId: agentQuestionId(call.id, call.asks.length),
    callId: call.id,
    kind: 'auth_required',
    message: config.hint ?? `${call.name} needs a credential`,
    context: { ...config },
  };
}
