import { expect } from 'vitest';

// To `toMatchObject` a pattern is an object without members, which every text has: `{ message: /x/ }` would hold for
// whatever the message says. It is `expect.stringMatching(/x/)`.
expect.addEqualityTesters([
  (actual: unknown, expected: unknown) =>
    expected instanceof RegExp && typeof actual === 'string' ? false : undefined,
]);
