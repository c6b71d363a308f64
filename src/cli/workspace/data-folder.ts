import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { messageOf } from '../../contracts/index.ts';
import { usageError } from '../terminal/index.ts';

/** Where the command keeps what it makes, in the current folder. */
export const DATA_FOLDER = '.coxswain';

/** Path of the data folder, which is made in `place` if it is not there; version control ignores it by itself. */
export function dataFolder(place = '.'): string {
  const folder = resolve(place, DATA_FOLDER);
  try {
    mkdirSync(folder, { recursive: true });
    const ignore = join(folder, '.gitignore');
    if (!existsSync(ignore)) writeFileSync(ignore, '*\n');
  } catch (error) {
    throw usageError(`the folder ${folder} cannot be made (${messageOf(error)}); choose a place with --store`, error);
  }
  return folder;
}
