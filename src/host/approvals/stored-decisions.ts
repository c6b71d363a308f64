import type { DecidedPage, DecidedQuery, StoredDecision } from '../../contracts/index.ts';
import { fitsDecided, nameOfPrincipal } from '../../session/index.ts';
import type { DecidedFilter } from './approvals.ts';
import type { AskedPlaces } from './asked-places.ts';

/** Of one answer, unless another number is asked for. */
const SHOWN = 50;
/** Pages of the store that one answer looks at, where much of them is not for it. */
const PAGES = 8;

/** What this principal may know of, and is looking for. */
export function decidedQuery(filter: DecidedFilter): DecidedQuery {
  const { by, everybodys = false, limit = SHOWN, ...wanted } = filter;
  const who = nameOfPrincipal(by);
  if (everybodys === true) return { ...wanted, limit };
  return { ...wanted, limit, users: [who, ...(everybodys || []).filter((user) => user !== who)], orBy: who };
}

/** A page of a store's index. Undefined: it keeps none. */
export async function storedDecisions(
  look: (query: DecidedQuery) => Promise<DecidedPage<StoredDecision> | undefined>,
  filter: DecidedFilter,
  places: Pick<AskedPlaces, 'add'>,
): Promise<DecidedPage | undefined> {
  const query = decidedQuery(filter);
  const found: StoredDecision[] = [];
  let { after } = query;
  for (let pages = 1; ; pages++) {
    const limit = query.limit - found.length;
    const page = await look({ ...query, limit, ...(after === undefined ? {} : { after }) });
    if (!page) return undefined;
    // A provider may know nothing of whose they are.
    for (const one of page.decided) if (one.agent !== '' && fitsDecided(one, query)) found.push(one);
    after = page.after;
    const { unread, newest } = page;
    // A store that gives less than it may has looked through enough for one answer: the next one continues.
    const isWhole = page.decided.length >= limit;
    if (after !== undefined && isWhole && found.length < query.limit && pages < PAGES) continue;
    return {
      decided: await places.add(found.slice(0, query.limit).map(shown)),
      ...(after === undefined ? {} : { after }),
      ...(unread === undefined ? {} : { unread }),
      ...(newest === undefined ? {} : { newest }),
    };
  }
}

/** Without who else has answered. */
export function shown({
  people: _,
  answerers: __,
  ...one
}: StoredDecision): Omit<StoredDecision, 'people' | 'answerers'> {
  return one;
}
