import type { JournalKey, JournalRecord, Principal, PutQuestion, TurnTerms } from '../../contracts/index.ts';
import type { Check, Shape } from '../../session/index.ts';
import {
  count,
  damagedNotes,
  flag,
  listOf,
  names,
  number,
  object,
  oneOf,
  required,
  text,
} from '../../session/index.ts';
import type { KnownAnswer, LastGo, NotedCall, WitnessRecord } from './records.ts';

/** What a note says it is of, where it says so: one of a later version may bind in a way that is not known here. */
const VERSION = 1;

/** How a note is wrong: completes "record 3 …". */
class Fault {
  readonly what: string;
  readonly isNewer: boolean;

  constructor(what: string, isNewer = false) {
    this.what = what;
    this.isNewer = isNewer;
  }
}

/** An object with these members; others that are not named may be there. */
const having = <T>(shape: Shape<T>): Check => ({
  needs: `an object with ${Object.keys(shape).join(', ')}`,
  fits: (value) => object.fits(value) && !Array.isArray(value) && misfit(value as Members, shape) === undefined,
});
const orNull = ({ needs, fits }: Check): Check => ({
  needs: `${needs} or null`,
  fits: (it) => it === null || fits(it),
});
const map: Check = { ...object, fits: (value) => object.fits(value) && !Array.isArray(value) };
const id = required(text);
const principal = having<Pick<Principal, 'id' | 'roles' | 'onBehalfOf'>>({ id, roles: names, onBehalfOf: text });
const terms = having<TurnTerms>({
  principal,
  permissionMode: text,
  excludeTools: names,
  tools: listOf(map),
  model: text,
  limits: map,
  calledBy: having({ sessionId: id, callId: id }),
  version: text,
  approvedFor: text,
});
const question = having<PutQuestion>({
  requestId: id,
  reason: text,
  ruleId: text,
  approvers: having({ roles: names, notRequester: flag, quorum: count, also: listOf(names) }),
  expiresAt: text,
  redact: names,
  digest: text,
  remember: names,
  args: map,
});
const answerShape: Shape<Omit<KnownAnswer, 'id' | 'attempt' | 'isVoid'>> = {
  requestId: id,
  // A word that is not known is no yes: whoever judges takes it for a no.
  action: id,
  by: principal,
  reason: text,
  args: map,
  digest: text,
  quorum: count,
};
const decision = having({ outcome: required(oneOf('approved', 'denied')), by: id, args: map, redact: names });
const before = having<LastGo['before']>({ decision, started: required(flag), attempts: required(count) });
const call = having<NotedCall>({
  callId: id,
  digest: id,
  // -1: nobody knows.
  turn: required(number),
  since: required(number),
  questions: required(listOf(question)),
  answers: required(listOf(having<KnownAnswer>({ ...answerShape, id, attempt: required(count), isVoid: flag }))),
  decision,
  started: required(flag),
  attempts: required(count),
  voids: required(count),
  asks: required(flag),
  last: having<LastGo>({ id, before: required(before) }),
});
const settledCall: Check = {
  needs: 'the id of a call and those of its questions',
  fits: (value) => Array.isArray(value) && value.length === 2 && text.fits(value[0]) && names.fits(value[1]),
};
const mode = required(orNull(text));
const ofCall = { callId: id, digest: id };
const at = required(number);

/** The members of each kind: all of them, and no others. */
const kinds: { [K in WitnessRecord['kind']]: Shape<Omit<Extract<WitnessRecord, { kind: K }>, 'kind'>> } = {
  past: { calls: required(listOf(settledCall)) },
  turns: { terms: required(listOf(terms)), mode },
  call: { call: required(call) },
  terms: { terms: required(terms), begins: required(flag), calls: listOf(having({ ...ofCall, at })) },
  mode: { mode },
  question: { ...ofCall, question: required(question), at },
  answer: { ...ofCall, id, answer: required(having(answerShape)), at },
  go: { ...ofCall, id, decision: required(decision), starts: required(flag), at, epoch: number },
  back: { ...ofCall, id },
  unsaid: { ...ofCall, id },
  void: ofCall,
  settled: ofCall,
};

type Members = Readonly<Record<string, unknown>>;

function misfit(value: Members, shape: Readonly<Record<string, Check>>): string | undefined {
  for (const [member, { needs, fits, required: isNeeded }] of Object.entries(shape)) {
    const given = value[member];
    if (given === undefined ? isNeeded : !fits(given)) return `its ${member} is not ${needs}`;
  }
  return undefined;
}

function faultOf(record: unknown): Fault | undefined {
  if (!map.fits(record)) return new Fault('is none');
  const { kind, v, ...members } = record as Members;
  if (v !== undefined && v !== VERSION) return new Fault(`is of version ${JSON.stringify(v)}`, true);
  if (typeof kind !== 'string') return new Fault('has no kind');
  if (!Object.hasOwn(kinds, kind)) return new Fault(`is of kind ${JSON.stringify(kind.slice(0, 40))}`, true);
  const shape: Readonly<Record<string, Check>> = kinds[kind as WitnessRecord['kind']];
  const what = misfit(members, shape);
  if (what !== undefined) return new Fault(`cannot be what it says (${kind}): ${what}`);
  // It may be there to narrow what the rest permits.
  const other = Object.keys(members).find((member) => !Object.hasOwn(shape, member));
  return other === undefined ? undefined : new Fault(`(${kind}) has ${JSON.stringify(other.slice(0, 40))}`, true);
}

/**
 * Records of a journal as this version writes them: one that cannot be read stands for something that nobody knows, so
 * nothing is done by the others.
 * @param after number of the record before the first of these
 * @throws CoxswainError `DATA_LOSS / E_STORE` naming session and record, for one that is damaged or of a later version
 */
export function readNotes(records: readonly JournalRecord[], key: JournalKey, after: number): WitnessRecord[] {
  for (const [index, record] of records.entries()) {
    const fault = faultOf(record);
    if (!fault) continue;
    const seq = after + index + 1;
    if (!fault.isNewer) throw damagedNotes(key, `record ${seq} ${fault.what}`, { seq });
    throw damagedNotes(key, `record ${seq} ${fault.what}, which is not known here`, {
      seq,
      remedy:
        'where a later version has written it, open the session with that version; else restore its rows from a backup, or delete it',
    });
  }
  return records as readonly unknown[] as WitnessRecord[];
}
