import { guarded, kindOf } from '../../base/index.ts';
import type { SessionUpdate } from '../../contracts/index.ts';
import { CoxswainError, copyJson } from '../../contracts/index.ts';
import { permissionMode, sessionTitle } from '../../session/index.ts';

const checks: { [K in keyof Required<SessionUpdate>]: (value: unknown) => boolean } = {
  model: (value) => typeof value === 'string' && value !== '',
  title: sessionTitle.fits,
  permissionMode: permissionMode.fits,
  tools: (value) =>
    Array.isArray(value) && value.every((tool) => typeof (tool as { name?: unknown })?.name === 'string'),
  config: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

/**
 * A session update, checked whole: one bad key and nothing is changed.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 */
export function checkUpdate(update: SessionUpdate): Record<string, unknown> {
  return guarded('update', () => checked(update));
}

function checked(update: SessionUpdate): Record<string, unknown> {
  if (typeof update !== 'object' || update === null || Object.keys(update).length === 0) {
    throw bad('it changes nothing; set model, title, permissionMode, tools or config');
  }
  for (const [key, value] of Object.entries(update)) {
    if (!Object.hasOwn(checks, key))
      throw bad(`there is no setting ${JSON.stringify(key)}; known: ${Object.keys(checks).join(', ')}`);
    if (value === null || value === undefined) continue;
    if (checks[key as keyof SessionUpdate](value)) continue;
    const instead = { permissionMode, title: sessionTitle }[key]?.needs;
    throw bad(`${key} does not take ${describe(value)}${instead === undefined ? '' : `; give ${instead}`}`);
  }
  return copyJson(update as Record<string, unknown>, 'update');
}

const describe = (value: unknown) => (typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : kindOf(value));

function bad(what: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', `bad session update: ${what}`);
}
