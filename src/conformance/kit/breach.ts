/** The executor does not do what a requirement says. */
export class Breach extends Error {
  readonly expected: string;
  readonly found: string;

  constructor(expected: string, found: string) {
    super(`expected ${expected}; found ${found}`);
    this.name = 'Breach';
    this.expected = expected;
    this.found = found;
  }
}

/** This executor gives no way to judge a requirement. */
export class Untestable extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'Untestable';
  }
}
