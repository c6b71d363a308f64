import { CoxswainError } from '../values/index.ts';

/** Where sessions are kept, as options name it. */
export interface StoreOption<Store = unknown> {
  store?: Store;
  /** @deprecated Write `store`: this is its former name. */
  sessions?: Store;
}

/**
 * The store that options give, by either name.
 * @throws CoxswainError `INVALID_ARGUMENT / E_USAGE` where both are given: one of them would not be used
 */
export function storeGiven<Store>({ store, sessions }: StoreOption<Store>, where: string): Store | undefined {
  if (store === undefined || sessions === undefined) return store ?? sessions;
  const message = `${where}.sessions is the former name of ${where}.store, and both are given; give store alone`;
  throw new CoxswainError('INVALID_ARGUMENT', 'E_USAGE', message);
}
