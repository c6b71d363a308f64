import type { Requirement } from '../kit/index.ts';
import { abort } from './abort.ts';
import { elicitationRequirements } from './elicitation.ts';
import { errors } from './errors.ts';
import { grammar } from './grammar.ts';
import { lifecycle } from './lifecycle.ts';
import { model } from './model.ts';
import { policies } from './policy.ts';
import { steering } from './steering.ts';
import { storage } from './storage.ts';
import { tools } from './tools.ts';
import { turns } from './turns.ts';

/** Version of the set: a requirement is added, or its tier raised, only with a new one. */
export const REQUIREMENTS_VERSION = '1.1';

/** Without an answer to a fixture message nothing else can be tested. */
const ANSWER = 'CX-TURN-01';
/** Checks that leave a stream in the middle use it. */
const ABORT = 'CX-ABORT-01';
const withoutAnswer = new Set(['CX-LIFE-01', ANSWER]);
const withAbort = new Set([
  'CX-LIFE-04',
  'CX-LIFE-06',
  'CX-TURN-03',
  'CX-ABORT-03',
  'CX-ABORT-04',
  'CX-GRAM-08',
  'CX-GRAM-09',
]);

function withNeeds(requirement: Requirement): Requirement {
  const { id } = requirement;
  if (withoutAnswer.has(id)) return requirement;
  const needs = withAbort.has(id) || /^CX-GRAM-0[1-7]$/.test(id) ? [ANSWER, ABORT] : [ANSWER];
  return { ...requirement, needs };
}

const all: readonly Requirement[] = [
  ...lifecycle,
  ...grammar,
  ...turns,
  ...tools,
  ...abort,
  ...steering,
  ...elicitationRequirements,
  ...policies,
  ...storage,
  ...errors,
  ...model,
];

export const requirements: readonly Requirement[] = all.map(withNeeds);
