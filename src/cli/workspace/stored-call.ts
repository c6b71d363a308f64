import { project } from '../../adapters/adk/index.ts';
import type { FunctionCallPart, PolicyRequest } from '../../contracts/index.ts';
import type { AskedWith } from '../../gate/index.ts';
import { requestOf } from '../../gate/index.ts';
import type { StoredEvent } from '../../runtime/index.ts';
import { callNotes, storeRefusal } from '../../runtime/index.ts';
import type { AuditEntry } from '../../session/index.ts';
import { auditOf, redactPointers } from '../../session/index.ts';
import { usageError } from '../terminal/index.ts';
import type { StoreFlags } from './flags.ts';
import { openWorkspaceStore } from './store.ts';

/** A call of a log, and what policy was asked about it. */
export interface StoredCall {
  entry: AuditEntry;
  request: PolicyRequest;
  /** Nothing was decided, or not by a gate: roles, source, path and mode are not known. */
  incomplete: boolean;
}

/** What flags say, which goes before what is stored. */
export type Overrides = Partial<AskedWith>;

export async function storedCall(
  callId: string,
  session: string,
  flags: StoreFlags,
  overrides: Overrides,
): Promise<StoredCall> {
  const store = await openWorkspaceStore(flags.store);
  try {
    const key = { app: flags.app, userId: flags.user, id: session };
    const record = await store.sessions.get(key);
    if (!record) throw storeRefusal.missing(key);
    const { events } = record;
    const entries = await auditOf(events.flatMap((event) => project(session, event)));
    const entry = entries.find((candidate) => candidate.callId === callId);
    const call = partOf(events, callId);
    if (entry && call) return { entry, ...askedAbout(events, call, entry, overrides, session) };
    const known = entries.map((one) => `${one.callId} (${one.tool})`).join(', ') || 'none';
    throw usageError(`session ${session} has no call ${callId}; it has: ${known}`);
  } finally {
    await store.close();
  }
}

function partOf(events: readonly StoredEvent[], callId: string): FunctionCallPart | undefined {
  for (const { content } of events)
    for (const part of content?.parts ?? []) if (part.type === 'function_call' && part.id === callId) return part;
  return undefined;
}

function askedAbout(
  events: readonly StoredEvent[],
  part: FunctionCallPart,
  { requestedBy, agentId }: AuditEntry,
  overrides: Overrides,
  session: string,
): Pick<StoredCall, 'request' | 'incomplete'> {
  const { id, name, args } = part;
  // The newest counts: a call may be decided on again.
  const decision = events.flatMap(({ actions }) => actions.decisions?.[id] ?? []).findLast(({ asked }) => asked);
  const asked: AskedWith = decision?.asked ?? {
    ...(requestedBy === undefined ? {} : { principal: { id: requestedBy } }),
    agentPath: agentId === undefined ? [] : [agentId],
    interactive: true,
    ...callNotes(part).tool,
  };
  const given = asked.args ?? decision?.args ?? args;
  const request = requestOf(name, given, { ...asked, ...overrides }, session);
  return { request, incomplete: decision === undefined };
}

/** The request as it may be shown: without what audits hide. */
export function shownRequest(request: PolicyRequest, pointers: readonly string[]): PolicyRequest {
  return { ...request, args: redactPointers(request.args ?? {}, pointers).value };
}
