import { unreachable } from '../../base/index.ts';
import type { ClaimedPosition } from '../../session/resume/index.ts';
import type { Channel, FramePlace, FrameWriter } from '../connection/index.ts';
import type { EventBody } from './event-body.ts';

/** Of a delta, which is in no log: the cursor before it, and its place among the frames of the server. */
const DELTA_ID = /^([^\r\n]*)~([0-9a-f-]{36})~(\d{1,15})$/;

/** Where a client is that has seen the event of this id. */
export function positionOf(id: string | undefined): ClaimedPosition {
  if (id === undefined || id === '') return {};
  const delta = DELTA_ID.exec(id);
  if (!delta) return { cursor: id };
  const [, cursor, epoch, offset] = delta;
  return { epoch, offset: Number(offset), ...(cursor ? { cursor } : {}) };
}

/** Events of a session as an event stream; of one stream alone, where `only` is its id. */
export class EventFrames implements FrameWriter {
  readonly isAcknowledged = false;
  readonly #channel: Channel;
  readonly #body: EventBody;
  readonly #only: string | undefined;
  /** The line of an id, up to its offset: most events are deltas, and share it. */
  #line = '';

  constructor(channel: Channel, body: EventBody, cursor: string | undefined, only?: string) {
    this.#channel = channel;
    this.#body = body;
    this.#only = only;
    this.#moved(cursor ?? '');
  }

  event(text: string, { offset, cursor, streamId, isEnd }: FramePlace): void {
    if (cursor !== undefined) this.#moved(cursor);
    if (this.#only !== undefined && streamId !== this.#only) return;
    this.#body.write(`${cursor === undefined ? this.#placeOf(offset) : idLine(cursor)}data: ${text}\n\n`);
    if (this.#only !== undefined && isEnd) this.#body.finish();
  }

  notice(method: 'session/reset' | 'session/live', offset: number): void {
    switch (method) {
      case 'session/reset':
        this.#body.write('event: reset\ndata: {}\n\n');
        return;
      case 'session/live':
        if (this.#only === undefined) this.#body.write(`event: live\n${this.#placeOf(offset)}data: {}\n\n`);
        else this.#endOver(this.#only);
        return;
      default:
        unreachable(method, 'a notice of a session');
    }
  }

  #placeOf(offset: number | undefined): string {
    return offset === undefined || this.#line === '' ? '' : `${this.#line}${offset}\n`;
  }

  #moved(cursor: string): void {
    this.#line = idLine(`${cursor}~${this.#channel.epoch}~`).replace(/\n$/, '');
  }

  /** A stream that runs no more has no end to wait for. */
  #endOver(only: string): void {
    const { streamId, lastEnd } = this.#channel;
    if (streamId === only) return;
    if (lastEnd?.streamId === only) this.event(JSON.stringify(lastEnd), { streamId: only, isEnd: true });
    else this.#body.finish();
  }
}

/** An id of somebody else's making must not end the line. */
function idLine(id: string): string {
  return /[\r\n\0]/.test(id) ? '' : `id: ${id}\n`;
}
