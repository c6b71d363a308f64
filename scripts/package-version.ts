import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes the version of package.json where the package tells it to peers: a part of `npm run release:version`. */

const root = join(import.meta.dirname, '..');
export const versionFile = join(root, 'src/contracts/values/package-version.ts');

export function versionSource(): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return `/** Of this package, as peers are told. */\nexport const PACKAGE_VERSION = '${version}';\n`;
}

if (import.meta.main) writeFileSync(versionFile, versionSource());
