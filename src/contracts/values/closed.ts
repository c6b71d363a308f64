/**
 * Wire objects are open (a newer peer's fields survive), our users' types are closed (a typo does not
 * compile). `Closed<T>` removes the index signature that an open schema infers, at every depth, and
 * leaves genuine records (`Record<string, unknown>`) alone.
 */
export type Closed<T> = unknown extends T
  ? T
  : T extends Primitive | ((...args: never[]) => unknown)
    ? T
    : T extends readonly unknown[]
      ? { [K in keyof T]: Closed<T[K]> }
      : T extends object
        ? [keyof KnownOnly<T>] extends [never]
          ? T
          : { [K in keyof T as KnownKey<K>]: Closed<T[K]> }
        : T;

type Primitive = string | number | boolean | bigint | symbol | null | undefined;
type KnownKey<K> = string extends K ? never : number extends K ? never : symbol extends K ? never : K;
type KnownOnly<T> = { [K in keyof T as KnownKey<K>]: T[K] };
