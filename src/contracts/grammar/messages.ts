import type { AgentMessageEvent, ContentPart } from '../types/index.ts';
import { notesOf } from '../types/index.ts';
import type { ReportFault, StreamRule } from './rule.ts';

interface Written {
  type: 'text' | 'thought';
  text: string;
}

/** A message whose deltas were shown and whose whole is awaited. */
interface OpenMessage {
  /** By part number. */
  parts: Map<number, Written>;
  last: AgentMessageEvent;
}

/** Ends at which the model had said all it was going to say. At any other it may have been cut off. */
const finishedReasons: readonly string[] = ['completed', 'input_required', 'refusal', 'max_turns'];

/** Rule 4: deltas are of one part each, and the durable message that follows carries exactly what they add up to. */
export function messagesAreWhole(): StreamRule {
  const open = new Map<string, OpenMessage>();
  const closed = new Set<string>();

  const takeDelta = (event: AgentMessageEvent, fault: ReportFault) => {
    const { messageId: id, part: number } = notesOf(event);
    if (event.seq !== undefined || event.cursor !== undefined) fault('a partial message has a place in the log', event);
    if (typeof id !== 'string') return fault('a partial message names no _meta.messageId', event);
    if (typeof number !== 'number') return fault(`a partial of ${id} names no _meta.part`, event);
    const [part, ...more] = event.content;
    if (part === undefined || more.length > 0) {
      return fault(`a partial of ${id} carries ${event.content.length} parts, not one`, event);
    }
    if (part.type === 'function_call') return fault(`a partial of ${id} carries a function call`, event);
    if (closed.has(id)) return fault(`a partial of ${id} follows the durable message`, event);
    const message = open.get(id) ?? { parts: new Map<number, Written>(), last: event };
    open.set(id, message);
    message.last = event;
    const delta = written(part);
    if (delta === undefined) return;
    const sofar = message.parts.get(number);
    if (sofar === undefined) message.parts.set(number, delta);
    else if (sofar.type === delta.type) sofar.text += delta.text;
    else fault(`part ${number} of ${id} changes from ${sofar.type} to ${delta.type}`, event);
  };

  const takeWhole = (event: AgentMessageEvent, fault: ReportFault) => {
    const { messageId: id, replaces } = notesOf(event);
    if (typeof replaces === 'string') {
      if (replaces === id) fault(`a message that replaces ${replaces} has its messageId`, event);
      open.delete(replaces);
      closed.add(replaces);
    }
    if (typeof id !== 'string') return;
    if (closed.has(id) && id !== replaces) fault(`the durable message ${id} came twice`, event);
    const deltas = open.get(id);
    open.delete(id);
    closed.add(id);
    if (deltas) compare(id, deltas, event, fault);
  };

  return {
    push(event, fault) {
      if (event.type === 'stream_end') {
        if (finishedReasons.includes(event.reason)) leftOpen(open, fault);
      } else if (event.type === 'message') {
        if (event.partial) takeDelta(event, fault);
        else if (event.role === 'agent') takeWhole(event, fault);
      }
    },
  };
}

function leftOpen(open: ReadonlyMap<string, OpenMessage>, fault: ReportFault): void {
  for (const [id, { parts, last }] of open) {
    const isEmpty = [...parts.values()].every((part) => part.text === '');
    if (!isEmpty) fault(`no durable message follows the partials of ${id}`, last);
  }
}

function compare(id: string, deltas: OpenMessage, whole: AgentMessageEvent, fault: ReportFault): void {
  // By order rather than number: calls of the same answer are parts too, and not in the message.
  const shown = [...deltas.parts].sort(([a], [b]) => a - b).map(([, part]) => part);
  const said = whole.content.map(written);
  const before = shown.filter(hasText);
  const after = said.filter(hasText);
  // A model that was cut off may have sent a little more than there was time to show.
  const agrees = whole.interrupted
    ? (part: Written, index: number) => after[index]?.type === part.type && after[index].text.startsWith(part.text)
    : (part: Written, index: number) => after[index]?.type === part.type && after[index].text === part.text;
  const isWhole = before.every(agrees) && (whole.interrupted || before.length === after.length);
  if (!isWhole) fault(`the durable message ${id} is not what its partials add up to`, whole);
}

function written(part: ContentPart): Written | undefined {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'thought') return { type: 'thought', text: part.thought };
  return undefined;
}

function hasText(part: Written | undefined): part is Written {
  return part !== undefined && part.text !== '';
}
