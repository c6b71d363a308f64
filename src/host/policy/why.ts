import type { SchemaCheck } from '../../gate/index.ts';

const MAX_SHOWN = 60;

/** A value in one short line, for people. */
export function shownValue(value: unknown): string {
  if (value === undefined) return 'absent';
  const text = JSON.stringify(value) ?? String(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…`.toWellFormed() : text;
}

/** `"a" is not "b" or "c"`, of what a rule wants one of. */
export function isNoneOf(actual: unknown, wanted: readonly string[]): string {
  const list = wanted.map((one) => JSON.stringify(one)).join(' or ');
  return actual === undefined ? `is absent, must be ${list}` : `${shownValue(actual)} is not ${list}`;
}

/**
 * Why a value does not fit a schema, behind the place in it: `/eur: 50 is below minimum 100`. Tests it again, so that it
 * costs nothing where nobody asks.
 */
export function whyOf(check: SchemaCheck, value: unknown): string {
  if (check(value)) return '';
  // The last one is of the keyword that was not met as a whole: a union has one for each of its branches before it.
  const error = check.errors.at(-1);
  if (!error) return ': does not fit';
  const { keyword, instancePath, params, message = keyword } = error;
  if (keyword === 'required') return `${instancePath}/${String(params.missingProperty)}: is absent`;
  const words = wordsFor[keyword];
  return `${instancePath}: ${shownValue(valueAt(value, instancePath))} ${words ? words(params) : `does not fit: ${message}`}`;
}

type Words = (params: Record<string, unknown>) => string;

const wordsFor: Readonly<Record<string, Words | undefined>> = {
  minimum: ({ limit }) => `is below minimum ${limit}`,
  maximum: ({ limit }) => `is above maximum ${limit}`,
  exclusiveMinimum: ({ limit }) => `is not above ${limit}`,
  exclusiveMaximum: ({ limit }) => `is not below ${limit}`,
  multipleOf: ({ multipleOf }) => `is no multiple of ${multipleOf}`,
  minLength: ({ limit }) => `has fewer than ${limit} characters`,
  maxLength: ({ limit }) => `has more than ${limit} characters`,
  minItems: ({ limit }) => `has fewer than ${limit} items`,
  maxItems: ({ limit }) => `has more than ${limit} items`,
  pattern: ({ pattern }) => `does not match ${pattern}`,
  type: ({ type }) => `is not of type ${[type].flat().join(' or ')}`,
  enum: ({ allowedValues }) => `is not ${[allowedValues].flat().map(shownValue).join(' or ')}`,
  const: ({ allowedValue }) => `is not ${shownValue(allowedValue)}`,
  not: () => 'fits what is under "not"',
  anyOf: () => 'fits nothing under "anyOf"',
  oneOf: () => 'does not fit exactly one under "oneOf"',
  additionalProperties: ({ additionalProperty }) => `has a member that is not named: ${shownValue(additionalProperty)}`,
};

function valueAt(value: unknown, pointer: string): unknown {
  let at = value;
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[name] : undefined;
  }
  return at;
}
