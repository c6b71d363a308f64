import { checkIs, checkOptions, count, listOf, object } from '../../base/index.ts';
import { evidenceOf, extendChain } from './chain.ts';
import { digestOf } from './digest.ts';
import type { ChainLink, StoredEvent } from './event.ts';

/** An audited event as far as its chain needs it. */
export interface ChainRow {
  id: string;
  seq: number;
  digest: string;
  chain?: ChainLink | undefined;
}

/**
 * `changed`: the event does not fit its link; `missing`: something was removed; `reordered`: it stands before what
 * it followed; `unlinked`: it was written without a link after the chain had begun; `unreadable`; `anchor`: the log
 * is not the one that was exported.
 */
export type ChainFaultKind = 'changed' | 'missing' | 'reordered' | 'unlinked' | 'unreadable' | 'anchor';

export interface ChainFault {
  seq: number;
  id?: string;
  fault: ChainFaultKind;
  message: string;
}

/** The chain up to and including the event at `seq`. */
export interface ChainHead {
  seq: number;
  hash: string;
}

export interface ChainReport {
  /** Nothing is wrong, and there is a chain. */
  ok: boolean;
  audited: number;
  /** Events with a link of their own; those before the first are bound by it. */
  linked: number;
  head?: ChainHead;
  faults: ChainFault[];
}

export interface VerifyOptions {
  /** What the store says is the newest seq. */
  lastSeq?: number;
  /** The head of an earlier export: the log must still hold it. */
  anchor?: ChainHead;
}

/**
 * Checks a whole log, in order of seq.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 */
export function verifyLog(events: readonly StoredEvent[], options: VerifyOptions = {}): ChainReport {
  checkIs(events, 'verifyLog: events', listOf(object));
  checkOptions<VerifyOptions>(options, 'verifyLog: options', { lastSeq: count, anchor: object });
  const gaps: ChainFault[] = [];
  let at = 0;
  for (const { seq, id } of events) {
    if (seq > at + 1) gaps.push(gap(at + 1, seq - 1));
    else if (seq <= at) gaps.push({ seq, id, fault: 'reordered', message: `event ${seq} stands behind event ${at}` });
    at = seq;
  }
  for (const { seq, id, partial } of events) {
    if (partial) gaps.push({ seq, id, fault: 'changed', message: `event ${seq} is stored as a piece of one` });
  }
  const { lastSeq = at } = options;
  if (lastSeq > at) gaps.push(gap(at + 1, lastSeq));
  const rows = evidenceOf(events).map((event) => ({
    id: event.id,
    seq: event.seq,
    digest: digestOf(event),
    chain: event.chain,
  }));
  const others = new Map(events.map(({ id, seq }) => [id, seq]));
  return verifyRows(rows, { ...options, gaps, others });
}

function gap(from: number, to: number): ChainFault {
  const what = from === to ? `event ${from} is` : `events ${from} to ${to} are`;
  return { seq: from, fault: 'missing', message: `${what} missing` };
}

interface RowsOptions extends VerifyOptions {
  /** Places that are known to be missing. */
  gaps?: readonly ChainFault[];
  /** Where each event of the log stands, evidence or not. */
  others?: ReadonlyMap<string, number>;
}

/** Checks the audited events of a log, in order of seq. */
export function verifyRows(rows: readonly ChainRow[], { anchor, gaps = [], others }: RowsOptions = {}): ChainReport {
  const faults: ChainFault[] = [...gaps];
  const chains = new Map<string, string>([['', '']]);
  const links = new Map<string, string>();
  const places = new Map(rows.map(({ id }, index) => [id, index]));
  let last = '';
  let chain = '';
  let linked = 0;
  let atAnchor: string | undefined;
  for (const [index, row] of rows.entries()) {
    const { id, seq, digest, chain: link } = row;
    const fault = (kind: ChainFaultKind, message: string) => faults.push({ seq, id, fault: kind, message });
    const before = link === undefined ? chain : (link.batch ? links : chains).get(link.after);
    const extended = extendChain(before ?? '', digest);
    if (link === undefined) {
      if (linked > 0) fault('unlinked', `event ${seq} was written without a link, after the chain had begun`);
    } else if (before === undefined) {
      const later = (places.get(link.after) ?? -1) > index;
      const there = places.has(link.after) ? undefined : others?.get(link.after);
      if (there !== undefined) {
        const message = `event ${there} was changed: it was an audit event when event ${seq} was written, and is none now`;
        faults.push({ seq: there, id: link.after, fault: 'changed', message });
      } else if (later) fault('reordered', `event ${seq} stands before the event that it followed`);
      else if (!isNamed(faults, rows[index - 1]?.seq ?? 0, seq)) {
        fault('missing', `the event that event ${seq} followed is missing`);
      }
    } else if (link.hash !== extended) {
      const first = rows[0]?.seq ?? seq;
      if (linked === 0 && first !== seq) {
        const message = `one of events ${first} to ${seq} was changed: only the last of them has a link, which does not fit`;
        faults.push({ seq: first, fault: 'changed', message });
      } else fault('changed', `event ${seq} does not fit its link: it was changed, or what stands before it was`);
    } else if (Object.keys(link).some((key) => !members.has(key))) {
      fault('changed', `the link of event ${seq} has a member that no link has`);
    }
    if (link) linked++;
    // One fault is named once: what follows is judged by what its writer saw.
    const isNeighbour = before === undefined || (link?.after === last && before === chain);
    chain = link && isNeighbour ? link.hash : extendChain(chain, digest);
    chains.set(id, chain);
    if (link) links.set(id, link.hash);
    last = id;
    if (anchor && seq <= anchor.seq) atAnchor = chain;
  }
  if (anchor && atAnchor !== anchor.hash) {
    const message = `the log up to event ${anchor.seq} is not the one that was exported`;
    faults.push({ seq: anchor.seq, fault: 'anchor', message });
  }
  faults.sort((a, b) => a.seq - b.seq);
  const head = rows.at(-1);
  return {
    ok: faults.length === 0 && (linked > 0 || rows.length === 0),
    audited: rows.length,
    linked,
    ...(head ? { head: { seq: head.seq, hash: chain } } : {}),
    faults,
  };
}

const members: ReadonlySet<string> = new Set(['after', 'hash', 'batch']);

const isNamed = (faults: readonly ChainFault[], after: number, before: number): boolean =>
  faults.some(({ fault, seq }) => fault === 'missing' && seq > after && seq < before);
