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

export const requirements: readonly Requirement[] = [
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
