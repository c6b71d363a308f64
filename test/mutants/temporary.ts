import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder that holds these files, until it is removed. */
export async function temporaryFolder(files: Readonly<Record<string, string>>) {
  const path = await mkdtemp(join(tmpdir(), 'coxswain-mutants-'));
  const pathOf = (name: string) => join(path, name);
  for (const [name, content] of Object.entries(files)) await writeFile(pathOf(name), content);
  return { pathOf, remove: () => rm(path, { recursive: true }) };
}
