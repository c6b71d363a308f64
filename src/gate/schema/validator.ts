import { hash } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonSchema } from '../../contracts/index.ts';
import { CoxswainError, copyJson, isNestedDeeper, MAX_JSON_DEPTH, messageOf } from '../../contracts/index.ts';
import { boundedTest, faultOfPattern, MAX_PATTERN_INPUT, spend, Undecided, withEffort } from '../pattern/index.ts';
import { everyObject, walkSchema } from './dialect.ts';
import type { ErrorObject } from './error-object.ts';
import { isPlainSchema } from './plain-schema.ts';
import { SchemaEffort } from './schema-effort.ts';
import { valueSize } from './value-size.ts';

/** A test of values. After a no, `errors` says why. Throws {@link Undecided} where it would take too long. */
export interface SchemaCheck {
  (value: unknown): boolean;
  readonly errors: readonly ErrorObject[];
}

/** Keywords that one evaluation may look at: tens of milliseconds. */
const MAX_EFFORT = 200_000;
/** In steps of a pattern; {@link MAX_EFFORT} of them are a fifth of what one evaluation may take. */
const STEPS_OF_KEYWORD = 5;
/** For what is large itself: so many for each value in it. */
const MAX_EACH = 30;
/** Above this the first fault will do: each of them costs more than what is looked at. */
const MAX_FOR_ALL_ERRORS = 10_000;
/** Keywords of a condition that are not counted exactly: a policy may have one thousand conditions. */
const ROUGHLY = 100;
/** Keywords of a schema: compiling it must not take long either. */
const MAX_SCHEMA = 10_000;
/** Values in a schema, data included. */
const MAX_SCHEMA_SIZE = 10 * MAX_SCHEMA;
/** Levels of a schema: it takes two to say what one level of a value is. */
const MAX_SCHEMA_DEPTH = 2 * MAX_JSON_DEPTH;
/** For each keyword: it takes tens of microseconds. */
const STEPS_TO_COMPILE = 250;

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
function regExpOf(maxLength: number, isOurs = false) {
  const make = (pattern: string, flags: string) => {
    const regExp = toRegExp(pattern, flags);
    const fault = isOurs ? faultOfPattern(regExp) : undefined;
    if (fault !== undefined) throw new Error(`the pattern ${pattern} ${fault}`);
    // The validator tells patterns apart by their text.
    return { test: boundedTest(regExp, maxLength), toString: () => String(regExp) };
  };
  return Object.assign(make, { code: 'new RegExp' });
}

const settings = {
  strict: false,
  // References are followed, not copied: a schema may make one thousand of them to the same part.
  inlineRefs: false,
  // Every schema of somebody else could refer to them.
  meta: false,
  validateSchema: false,
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

let metaSchema: Ajv2020 | undefined;

function compileWith(shared: Shared, schema: JsonSchema): ValidateFunction {
  try {
    if (!isPlainSchema(schema)) assertSchema(schema);
    const validate = instanceFor(shared, schema).compile(schema);
    if ('$async' in validate) throw new Error('asynchronous schemas are not supported');
    return validate;
  } catch (error) {
    // What it has kept of one that it did not get to the end of is nobody's.
    delete shared.ajv;
    throw new CoxswainError('INVALID_ARGUMENT', 'E_SCHEMA', messageOf(error), { cause: error });
  }
}

function assertSchema(schema: JsonSchema): void {
  metaSchema ??= new (ajvModule().Ajv2020)({ strict: false, validateFormats: false, logger: false });
  if (!metaSchema.validateSchema(schema)) throw new Error(`schema is invalid: ${metaSchema.errorsText()}`);
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

/** Also below keywords that nobody knows: the validator remembers those ids, too. */
function hasId(schema: JsonSchema): boolean {
  let found = false;
  everyObject(schema, (node) => {
    found ||= typeof node.$id === 'string';
  });
  return found;
}

const ofArguments = { ...settings, useDefaults: true, code: { regExp: regExpOf(Number.POSITIVE_INFINITY) } };
const forArguments: Shared = { options: { ...ofArguments, allErrors: true }, uses: 0 };
const forFirstFault: Shared = { options: ofArguments, uses: 0 };
const compiled = new WeakMap<JsonSchema, SchemaCheck>();
/** By a digest of the schema; the oldest goes where there are too many. */
const byDigest = new Map<string, SchemaCheck>();
const MAX_SHARED = 1000;

/**
 * Validates a value in place: members that are missing and have a `default` are set. Compiled once for equal
 * schemas, as a schema object is when it is first given. References to other documents are not followed. The check throws {@link Undecided} where it would take too
 * long, which is counted beforehand; above a few thousand steps it ends at the first fault.
 * @throws CoxswainError `INVALID_ARGUMENT / E_SCHEMA` for a schema that is none, or is too large
 */
export function compileSchema(schema: JsonSchema): SchemaCheck {
  let check = compiled.get(schema);
  if (!check) {
    check = sharedCheck(schema);
    compiled.set(schema, check);
  }
  return check;
}

/** Clients and servers name the same tools anew each time. */
function sharedCheck(schema: JsonSchema): SchemaCheck {
  const copy = copyOf(schema);
  if (!copy) return boundedCheck(schema);
  const digest = hash('sha256', JSON.stringify(copy), 'base64url');
  let check = byDigest.get(digest);
  if (!check) {
    // Of the copy: whoever changes his schema later changes it for nobody else.
    check = boundedCheck(copy);
    const [oldest] = byDigest.keys();
    if (oldest !== undefined && byDigest.size >= MAX_SHARED) byDigest.delete(oldest);
    byDigest.set(digest, check);
  }
  return check;
}

/** Undefined for what is too large or no JSON: it says so when it is compiled. */
function copyOf(schema: JsonSchema): JsonSchema | undefined {
  try {
    if (isNestedDeeper(schema, MAX_SCHEMA_DEPTH) || valueSize(schema) > MAX_SCHEMA_SIZE) return undefined;
    return copyJson(schema, 'schema', MAX_SCHEMA_DEPTH);
  } catch {
    return undefined;
  }
}

function boundedCheck(schema: JsonSchema): SchemaCheck {
  const effort = effortOf(schema);
  spend(effort.size * STEPS_TO_COMPILE);
  const full = compileWith(forArguments, schema);
  let quick: ValidateFunction | undefined;
  let used = full;
  const check = (value: unknown) =>
    bounded(value, () => {
      const steps = effort.of(value, MAX_FOR_ALL_ERRORS);
      if (isTooMuch(steps, value)) throw new Undecided('checking it against its schema would take too long');
      const isMuch = steps > MAX_FOR_ALL_ERRORS && steps > MAX_EACH * valueSize(value);
      if (isMuch) quick ??= compileWith(forFirstFault, schema);
      const validate = isMuch && quick ? quick : full;
      used = validate;
      spend(steps * STEPS_OF_KEYWORD);
      return validate(value) === true;
    });
  return withErrors(check, () => used);
}

/** Nothing is begun where nothing is left, or where a value is nested without end. */
function bounded(value: unknown, evaluate: () => boolean): boolean {
  if (isNestedDeeper(value, MAX_JSON_DEPTH)) throw new Undecided('checking it against its schema would go too deep');
  try {
    return withEffort(() => {
      spend(1);
      return evaluate();
    });
  } catch (error) {
    if (error instanceof Undecided || error instanceof CoxswainError) throw error;
    // Code that is made of a schema has no other reason to throw than its stack, whatever the error is then.
    throw new Undecided('checking it against its schema would go too deep');
  }
}

const isTooMuch = (steps: number, value: unknown): boolean => steps > MAX_EFFORT && steps > MAX_EACH * valueSize(value);

function effortOf(schema: JsonSchema): SchemaEffort {
  // Before anything walks it.
  if (isNestedDeeper(schema, MAX_SCHEMA_DEPTH)) {
    const message = `the schema is nested deeper than ${MAX_SCHEMA_DEPTH} levels`;
    throw new CoxswainError('INVALID_ARGUMENT', 'E_SCHEMA', message);
  }
  // Also what is not evaluated is read, and defaults are written into what is made of it.
  if (valueSize(schema) <= MAX_SCHEMA_SIZE) {
    const effort = new SchemaEffort(schema);
    if (effort.size <= MAX_SCHEMA) return effort;
  }
  throw new CoxswainError('INVALID_ARGUMENT', 'E_SCHEMA', `the schema is too large: above ${MAX_SCHEMA} keywords`);
}

/** Whether a value fits; a no where that cannot be told. @throws CoxswainError `INVALID_ARGUMENT / E_SCHEMA` */
export function fitsSchema(schema: JsonSchema, value: unknown): boolean {
  const check = compileSchema(schema);
  try {
    return check(value);
  } catch (error) {
    if (error instanceof Undecided) return false;
    throw error;
  }
}

const forPredicates: Shared = {
  options: {
    ...settings,
    // A misspelt keyword would say yes to everything.
    strictSchema: true,
    code: { regExp: regExpOf(MAX_PATTERN_INPUT, true) },
  },
  uses: 0,
};

/**
 * A yes-or-no test of a value by a JSON Schema, without defaults and without changing the value. Patterns are not
 * run on strings longer than {@link MAX_PATTERN_INPUT}, and nothing runs for long: the test throws {@link Undecided}.
 * @throws CoxswainError `INVALID_ARGUMENT / E_SCHEMA` for a schema that is none or too large, that has unknown keywords,
 *   a pattern with references to its groups, or `format`, which is not checked
 */
export function compilePredicate(schema: JsonSchema): SchemaCheck {
  const effort = effortOf(schema);
  walkSchema(schema, (node) => {
    if (node.format !== undefined) {
      throw new CoxswainError('INVALID_ARGUMENT', 'E_SCHEMA', '"format" is not checked; use "pattern"');
    }
  });
  const validate = compileWith(forPredicates, schema);
  const check = (value: unknown) =>
    bounded(value, () => {
      const steps = effort.of(value, ROUGHLY);
      if (isTooMuch(steps, value)) throw new Undecided('testing a condition would take too long');
      spend(steps);
      return validate(value) === true;
    });
  return withErrors(check, () => validate);
}

function withErrors(check: (value: unknown) => boolean, used: () => ValidateFunction): SchemaCheck {
  return Object.defineProperty(check, 'errors', { get: () => used().errors ?? [] }) as unknown as SchemaCheck;
}
