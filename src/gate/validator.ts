import { createRequire } from 'node:module';
import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonSchema } from '../contracts/index.ts';
import { CoxswainError, messageOf } from '../contracts/index.ts';
import { walkSchema } from './dialect.ts';
import { boundedTest, MAX_PATTERN_INPUT } from './pattern.ts';

export type { ErrorObject, ValidateFunction };

const require = createRequire(import.meta.url);

type AjvModule = Pick<typeof import('ajv/dist/2020.js'), 'Ajv2020'>;

let loaded: AjvModule | undefined;
let loading: Promise<void> | undefined;

/**
 * Loads the JSON Schema validator ahead of its first use (tens of milliseconds). `undefined`: it is loaded. Without
 * this the first validation loads it.
 */
export function ensureValidator(): Promise<void> | undefined {
  if (loaded) return undefined;
  loading ??= import('ajv/dist/2020.js').then((module) => {
    loaded ??= module;
  });
  return loading;
}

function ajvModule(): AjvModule {
  loaded ??= require('ajv/dist/2020.js') as AjvModule;
  return loaded;
}

/** Foreign patterns were often written for engines without the `u` flag, and are refused with it. */
function toRegExp(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return new RegExp(pattern);
  }
}

/** Schemas may be a foreign server's, and what they are tried on a model's. */
function regExpOf(maxLength: number) {
  const make = (pattern: string, flags: string) => {
    const regExp = toRegExp(pattern, flags);
    // The validator tells patterns apart by their text.
    return { test: boundedTest(regExp, maxLength), toString: () => String(regExp) };
  };
  return Object.assign(make, { code: 'new RegExp' });
}

const settings = {
  strict: false,
  allErrors: true,
  validateFormats: false,
  // `toString` and `constructor` are on every object without having been passed.
  ownProperties: true,
  logger: false,
} as const;

/** An instance keeps something of every schema it has compiled; a new one costs as much as fifty of them. */
const SCHEMAS_PER_INSTANCE = 500;

type Options = NonNullable<ConstructorParameters<AjvModule['Ajv2020']>[0]>;
interface Shared {
  readonly options: Options;
  ajv?: Ajv2020;
  uses: number;
}

function compileWith(shared: Shared, schema: JsonSchema): ValidateFunction {
  try {
    const validate = instanceFor(shared, schema).compile(schema);
    if ('$async' in validate) throw new Error('asynchronous schemas are not supported');
    return validate;
  } catch (error) {
    throw new CoxswainError('INVALID_ARGUMENT', 'E_SCHEMA', messageOf(error), { cause: error });
  }
}

function instanceFor(shared: Shared, schema: JsonSchema): Ajv2020 {
  const { Ajv2020 } = ajvModule();
  // An instance remembers ids: schemas of different origins may use the same ones, or those of the meta-schema.
  if (hasId(schema)) return new Ajv2020(shared.options);
  if (!shared.ajv || shared.uses >= SCHEMAS_PER_INSTANCE) {
    shared.ajv = new Ajv2020(shared.options);
    shared.uses = 0;
  }
  shared.uses++;
  return shared.ajv;
}

function hasId(schema: JsonSchema): boolean {
  let found = false;
  walkSchema(schema, (node) => {
    found ||= typeof node.$id === 'string';
  });
  return found;
}

const forArguments: Shared = {
  options: { ...settings, useDefaults: true, code: { regExp: regExpOf(Number.POSITIVE_INFINITY) } },
  uses: 0,
};
const compiled = new WeakMap<JsonSchema, ValidateFunction>();

/**
 * Validates a value in place: members that are missing and have a `default` are set. Compiled once for each schema
 * object. References to other documents are not followed.
 * @throws CoxswainError `INVALID_ARGUMENT / E_SCHEMA` for a schema that is none
 */
export function compileSchema(schema: JsonSchema): ValidateFunction {
  let validate = compiled.get(schema);
  if (!validate) {
    validate = compileWith(forArguments, schema);
    compiled.set(schema, validate);
  }
  return validate;
}

const forPredicates: Shared = {
  options: {
    ...settings,
    allErrors: false,
    // A misspelt keyword would say yes to everything.
    strictSchema: true,
    code: { regExp: regExpOf(MAX_PATTERN_INPUT) },
  },
  uses: 0,
};

/**
 * A yes-or-no test of a value by a JSON Schema, without defaults and without changing the value. Patterns are not
 * run on strings longer than {@link MAX_PATTERN_INPUT}, nor for long: the test throws {@link PatternInputTooLong} then.
 * @throws CoxswainError `INVALID_ARGUMENT / E_SCHEMA` for a schema that is none, that has unknown keywords, or that
 *   uses `format`, which is not checked
 */
export function compilePredicate(schema: JsonSchema): (value: unknown) => boolean {
  walkSchema(schema, (node) => {
    if (node.format !== undefined) {
      throw new CoxswainError('INVALID_ARGUMENT', 'E_SCHEMA', '"format" is not checked; use "pattern"');
    }
  });
  const validate = compileWith(forPredicates, schema);
  return (value) => validate(value) === true;
}
