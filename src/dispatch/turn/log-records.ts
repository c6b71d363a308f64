import type { ContentPart, MediaPart } from '../../contracts/index.ts';
import { CoxswainError, textOfParts } from '../../contracts/index.ts';
import { toJsonValue } from '../../gate/index.ts';
import type { AgentContext, EventInit, StoredEvent } from '../../runtime/index.ts';
import { deliveredWords, sees } from '../../runtime/index.ts';
import type { MediaKind, ModalityHazard, RecordChange, RecordKind, TrustTier } from '../records/index.ts';
import { bytesInMemory, Media, Message, Records, Thought, ToolCall } from '../records/index.ts';

/** What is kept of a record beside its words. */
interface Stored {
  toolCall?: Record<string, unknown>;
  mutates?: RecordKind;
  deletes?: RecordKind;
  id?: string;
}

/** Id of the event that holds a record, and of the partial messages before it. */
export function eventIdOf(kind: RecordKind, id: string): string {
  return kind === 'message' ? id : kind === 'thought' ? `th:${id}` : `tc:${id}`;
}

export type RecordEvent = Pick<EventInit, 'content' | 'customMetadata'>;

/** A write as an event. The log is only ever added to: a change or deletion is one more event. */
export async function recordEvent(change: RecordChange): Promise<RecordEvent> {
  if (change.op === 'delete') return marked({ deletes: change.kind, id: change.id });
  const mark: Stored = change.op === 'mutate' ? { mutates: change.kind, id: change.value.id } : {};
  if (change.kind === 'toolCall') return marked({ ...mark, toolCall: toolCallJson(change.value) });
  const parts: ContentPart[] = [];
  let role: 'user' | 'model' = 'model';
  if (change.kind === 'thought') parts.push({ type: 'thought', thought: change.value.content });
  else {
    const { content, attachments } = change.value;
    if (change.value.role === 'user') role = 'user';
    if (content !== undefined) parts.push({ type: 'text', text: content });
    for (const media of attachments) parts.push(await mediaPart(media));
  }
  return { ...(change.op === 'mutate' ? marked(mark) : {}), content: { role, parts } };
}

function marked(stored: Stored): RecordEvent {
  return { content: { role: 'model', parts: [] }, customMetadata: { dispatch: { ...stored } } };
}

/** Conversation as far as an agent sees it, from the log up to a seq. Tool calls are those of this turn. */
export function recordsOf(context: AgentContext, upTo = Number.POSITIVE_INFINITY): Records {
  const records = new Records();
  for (const event of context.invocation.session.log) {
    if (event.seq > upTo) break;
    if ((event.iso ?? '') === context.iso && sees(context.branch, event.branch)) take(records, event, context);
  }
  return records;
}

function take(records: Records, event: StoredEvent, context: AgentContext): void {
  for (const message of steersOf(context, event.actions.delivered ?? [], event)) {
    records.apply({ op: 'store', kind: 'message', value: message });
  }
  const stored = event.customMetadata?.dispatch as Stored | undefined;
  if (stored?.deletes && stored.id !== undefined) {
    records.apply({ op: 'delete', kind: stored.deletes, id: stored.id });
  }
  if (stored?.toolCall && event.turnId === context.invocation.turnId) {
    const value = toolCallOf(stored.toolCall, event);
    records.apply({ op: stored.mutates ? 'mutate' : 'store', kind: 'toolCall', value });
  }
  // What was shown and not stored is no memory.
  if (!event.content || event.actions.steer || event.interrupted) return;
  const op = stored?.mutates ? 'mutate' : 'store';
  const message = messageOfEvent(event, context.agent.name, stored?.id);
  if (message) records.apply({ op, kind: 'message', value: message });
  const thought = event.author === context.agent.name ? thoughtOf(event, stored?.id) : undefined;
  if (thought) records.apply({ op, kind: 'thought', value: thought });
}

/** Words that somebody added to a turn; `delivering`: the event that gives them to it. */
export function steersOf(context: AgentContext, ids: readonly string[], delivering?: StoredEvent): Message[] {
  return ids.flatMap((id) => {
    const event = context.invocation.session.log.find((candidate) => candidate.id === id);
    const content = event && delivering ? deliveredWords(event, delivering) : event?.content;
    return (event && content && messageOfEvent({ ...event, content }, context.agent.name)) ?? [];
  });
}

function messageOfEvent(event: StoredEvent, agent: string, id = event.id): Message | undefined {
  const parts = event.content?.parts ?? [];
  const said = textOfParts(parts);
  const media = parts.filter((part): part is MediaPart => part.type === 'media' && part.data !== undefined);
  if (said === '' && media.length === 0) return undefined;
  const isOwn = event.author === agent;
  const isForeign = !isOwn && event.author !== 'user';
  const attachments = media.map((part, index) => mediaOf(part, `${event.id}.${index}`, isOwn));
  return new Message({
    id,
    role: isOwn && event.content?.role === 'model' ? 'assistant' : 'user',
    // Another agent's words are context, not this one's speech.
    ...(said === '' ? {} : { content: isForeign ? `[${event.author}] ${said}` : said }),
    attachments,
    ...(isForeign ? { identity: event.author } : {}),
    createdAt: event.timestamp,
    updatedAt: event.timestamp,
  });
}

function thoughtOf(event: StoredEvent, id?: string): Thought | undefined {
  const content = (event.content?.parts ?? [])
    .flatMap((part) => (part.type === 'thought' ? [part.thought] : []))
    .join('');
  if (content === '') return undefined;
  const given = id ?? event.id.replace(/^th:/, '');
  return new Thought({ id: given, content, createdAt: event.timestamp, updatedAt: event.timestamp });
}

function toolCallJson(call: ToolCall): Record<string, unknown> {
  const { id, checksum, tool, args, results, isError, isComplete, createdAt, updatedAt, completedAt } = call;
  const times = { createdAt: createdAt.getTime(), updatedAt: updatedAt.getTime() };
  const json = toJsonValue({
    ...{ id, checksum, tool, args, isError, isComplete, ...times },
    ...(results === undefined ? {} : { results }),
    ...(completedAt ? { completedAt: completedAt.getTime() } : {}),
  });
  return json as Record<string, unknown>;
}

function toolCallOf(json: Record<string, unknown>, event: StoredEvent): ToolCall {
  try {
    return new ToolCall(json as unknown as ConstructorParameters<typeof ToolCall>[0]);
  } catch (error) {
    throw new CoxswainError('DATA_LOSS', 'E_STORE', `event ${event.id} holds a damaged tool call`, { cause: error });
  }
}

async function mediaPart(media: Media): Promise<ContentPart> {
  const { kind, filename, trustTier, modalityHazard } = media;
  return {
    type: 'media',
    mimeType: media.mimeType,
    data: await media.asBase64(),
    _meta: { media: { kind, filename, trustTier, modalityHazard } },
  };
}

/** @param isOwn the agent itself has stored it: what a caller or another agent says of its trust counts for nothing */
function mediaOf(part: MediaPart, id: string, isOwn: boolean): Media {
  const said = (part._meta?.media ?? {}) as Partial<Pick<Media, 'kind' | 'filename' | 'trustTier' | 'modalityHazard'>>;
  const known = isOwn ? said : typeof said.filename === 'string' ? { filename: said.filename } : {};
  const kind: MediaKind = known.kind ?? kindOf(part.mimeType);
  const hazard: ModalityHazard = kind === 'document' ? 'extractable-instructions' : 'opaque-perceptual';
  // What a person attached is nobody's word but theirs.
  const tier: TrustTier = known.trustTier ?? 'third-party-private';
  return new Media({
    id,
    kind,
    mimeType: part.mimeType,
    filename: known.filename ?? 'file',
    reader: bytesInMemory(Buffer.from(part.data ?? '', 'base64')),
    trustTier: tier,
    modalityHazard: known.modalityHazard ?? hazard,
  });
}

function kindOf(mimeType: string): MediaKind {
  const [type] = mimeType.split('/');
  return type === 'image' || type === 'audio' || type === 'video' ? type : 'document';
}
