import type { Broken } from './bend.ts';
import { control } from './control.ts';
import { grammar } from './grammar.ts';
import { lifecycle } from './lifecycle.ts';
import { model } from './model.ts';
import { storage } from './storage.ts';
import { tools } from './tools.ts';
import { errors, turns } from './turns.ts';

/** Executors that break one requirement each. */
export const broken: readonly Broken[] = [
  ...lifecycle,
  ...grammar,
  ...turns,
  ...tools,
  ...control,
  ...storage,
  ...errors,
  ...model,
];
