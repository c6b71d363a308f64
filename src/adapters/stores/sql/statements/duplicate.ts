/** One of these ids is taken; which one is asked once the transaction is undone. */
export class DuplicateEvent extends Error {
  readonly ids: readonly string[];

  constructor(ids: readonly string[]) {
    super('an event id is taken');
    this.ids = ids;
  }
}
