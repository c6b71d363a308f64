import type { AnyTool } from 'coxswain';
import { listFiles } from './list-files.ts';
import { readFile } from './read-file.ts';
import { searchText } from './search-text.ts';
import { writeFile } from './write-file.ts';

/**
 * Tools over the files of one folder and nothing outside it. Three of them change nothing; `write_file` does, and
 * shows the change beforehand.
 */
export function workspaceTools(root: string): AnyTool[] {
  return [listFiles(root), readFile(root), searchText(root), writeFile(root)];
}
