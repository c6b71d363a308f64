import { pointerSteps, typesOfError, valueAt } from './coerce.ts';
import type { ErrorObject } from './error-object.ts';
import type { LibraryIssue } from './library-schema.ts';

const MAX_FAULTS = 5;
const MAX_SHOWN = 60;

/** Says, for a model to read, what is wrong with arguments: path, expected, got. */
export function explainErrors(args: unknown, errors: readonly ErrorObject[]): string {
  const faults = new Map<string, string>();
  const mistyped = new Map<string, Set<string>>();
  for (const error of errors) {
    if (error.keyword === 'type') {
      const types = mistyped.get(error.instancePath) ?? new Set();
      for (const type of typesOfError(error)) types.add(type);
      mistyped.set(error.instancePath, types);
    }
  }
  for (const error of errors) {
    const steps = pointerSteps(error.instancePath);
    const types = mistyped.get(error.instancePath);
    // Once for all branches of a union, and without the verdict on the union itself.
    if (error.keyword === 'anyOf' || error.keyword === 'oneOf') if (types || errors.length > 1) continue;
    const isType = error.keyword === 'type' && types !== undefined;
    const fault = isType
      ? `expected ${[...types].join(' or ')}, got ${show(valueAt(args, steps))}`
      : explain(error, args, steps);
    const at = pathText(error.keyword === 'required' ? [...steps, String(error.params.missingProperty)] : steps);
    faults.set(`${at}\0${isType ? '' : fault}`, `${at}: ${fault}`);
  }
  return joinFaults([...faults.values()]);
}

function explain(error: ErrorObject, args: unknown, steps: readonly string[]): string {
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `unknown member ${show(params.additionalProperty ?? params.unevaluatedProperty)}`;
    case 'enum':
      return `expected one of ${(params.allowedValues as unknown[]).map(show).join(', ')}, got ${show(valueAt(args, steps))}`;
    case 'const':
      return `expected ${show(params.allowedValue)}, got ${show(valueAt(args, steps))}`;
    default:
      return `${error.message ?? error.keyword}, got ${show(valueAt(args, steps))}`;
  }
}

/** The same for what a schema library found. */
export function explainIssues(issues: readonly LibraryIssue[]): string {
  if (issues.length === 0) return 'arguments: refused by the schema';
  return joinFaults(issues.map(({ path = [], message }) => `${pathText(path.map(stepText))}: ${message}`));
}

/** A key, or an object that has it. */
function stepText(step: unknown): string {
  return String(typeof step === 'object' && step !== null && 'key' in step ? step.key : step);
}

function joinFaults(faults: readonly string[]): string {
  const shown = faults.slice(0, MAX_FAULTS).join('; ');
  return faults.length > MAX_FAULTS ? `${shown}; and ${faults.length - MAX_FAULTS} more` : shown;
}

function pathText(steps: readonly string[]): string {
  if (steps.length === 0) return 'arguments';
  return steps.map((step, index) => (/^\d+$/.test(step) ? `[${step}]` : index === 0 ? step : `.${step}`)).join('');
}

function show(value: unknown): string {
  const kind = Array.isArray(value) ? 'array ' : typeof value === 'object' && value !== null ? 'object ' : '';
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…`.toWellFormed() : text;
  return `${kind}${cut}`;
}
