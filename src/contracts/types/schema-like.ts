import type { JsonSchema } from '../values/index.ts';

/** A zod 3 or zod 4 schema, told apart by shape: two copies of zod in one program are fine. */
export type ZodLike =
  | { readonly _zod: { readonly output: unknown; readonly input: unknown } }
  | { readonly _output: unknown; readonly _input: unknown; readonly _def: unknown };

/** A schema of any library that follows Standard Schema, and says its JSON Schema as Standard JSON Schema does. */
export interface StandardSchemaLike {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
  };
}

/** What is taken wherever a schema is: of zod, of another library that follows Standard Schema, or JSON Schema. */
export type SchemaLike = JsonSchema | ZodLike | StandardSchemaLike;

/** The value that a schema gives, with its defaults and transforms applied; `unknown` where its type does not say. */
export type OutputOf<S> = S extends { readonly _zod: { readonly output: infer Output } }
  ? Output
  : S extends { readonly _output: infer Output; readonly _def: unknown }
    ? Output
    : S extends { readonly '~standard': unknown }
      ? S extends { readonly '~standard': { readonly types?: { readonly output: infer Output } | undefined } }
        ? Output
        : unknown
      : FromJson<S>;

/** The value that a schema takes, before its defaults and transforms; `unknown` where its type does not say. */
export type InputOf<S> = S extends { readonly _zod: { readonly input: infer Input } }
  ? Input
  : S extends { readonly _input: infer Input; readonly _def: unknown }
    ? Input
    : S extends { readonly '~standard': unknown }
      ? S extends { readonly '~standard': { readonly types?: { readonly input: infer Input } | undefined } }
        ? Input
        : unknown
      : FromJson<S, 'given'>;

/** The arguments that a handler gets for a schema. */
export type ArgsOf<S> = unknown extends OutputOf<S> ? Record<string, unknown> : OutputOf<S>;

/** With defaults filled in, or as somebody gives it. */
type Side = 'filled' | 'given';

/** The value of a JSON Schema that is written in place: of a variable of type `JsonSchema` nothing is known. */
type FromJson<S, As extends Side = 'filled'> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly anyOf: readonly (infer Branch)[] } | { readonly oneOf: readonly (infer Branch)[] }
      ? FromJson<Branch, As>
      : S extends { readonly type: readonly (infer Type)[] }
        ? OfType<S, Type, As>
        : S extends { readonly type: infer Type extends string }
          ? OfType<S, Type, As>
          : unknown;

type OfType<S, Type, As extends Side> = Type extends 'string'
  ? string
  : Type extends 'number' | 'integer'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'null'
        ? null
        : Type extends 'array'
          ? S extends { readonly items: infer Item }
            ? FromJson<Item, As>[]
            : unknown[]
          : Type extends 'object'
            ? S extends { readonly properties: infer Members }
              ? Plain<
                  {
                    -readonly [K in keyof Members as K extends Always<S, Members, As> ? K : never]: FromJson<
                      Members[K],
                      As
                    >;
                  } & {
                    -readonly [K in keyof Members as K extends Always<S, Members, As> ? never : K]?: FromJson<
                      Members[K],
                      As
                    >;
                  }
                >
              : S extends { readonly additionalProperties: infer Value extends object }
                ? Record<string, FromJson<Value, As>>
                : Record<string, unknown>
            : unknown;

/** Names of the members that are always there: those that are required, and those that a default is filled in for. */
type Always<S, Members, As extends Side> =
  | (S extends { readonly required: readonly (infer Name)[] } ? Name : never)
  | (As extends 'filled'
      ? { [K in keyof Members]: Members[K] extends { readonly default: unknown } ? K : never }[keyof Members]
      : never);

/** One object type rather than an intersection, as it is shown to people. */
type Plain<T> = { [K in keyof T]: T[K] };
