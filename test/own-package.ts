import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// The package's own name, as the examples import it: its sources, built or not.

const root = join(import.meta.dirname, '..');
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, string | { types: string }>;
};
const sources = new Map(
  Object.entries(exports).flatMap(([path, entry]): [string, string][] => {
    if (typeof entry === 'string') return [];
    const source = entry.types.replace('./dist/', 'src/').replace('.d.ts', '.ts');
    return [[`coxswain${path.slice(1)}`, pathToFileURL(join(root, source)).href]];
  }),
);

registerHooks({
  resolve: (specifier, context, next) => next(sources.get(specifier) ?? specifier, context),
});
