import { join } from 'node:path';
import { build } from 'vite';

const root = join(import.meta.dirname, '..');

/** Folder of the page's files in the package. */
export const inspectorFolder = join(root, 'dist', 'inspector');

/**
 * The inspector's page as static files: `inspector` in TypeScript and CSS, with what it takes of other packages. Nothing
 * in them is inline, so that the server's Content-Security-Policy can refuse everything that is. Gives the files that are in them.
 */
export async function buildInspector(outDir: string = inspectorFolder): Promise<string[]> {
  const built = await build({
    root: join(root, 'inspector'),
    base: './',
    configFile: false,
    logLevel: 'error',
    resolve: { alias: { 'coxswain/client': join(root, 'src/entries/client.ts') } },
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2023',
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: { output: { comments: { legal: true } } },
    },
  });
  const outputs = [built].flat().flatMap((one) => ('output' in one ? one.output : []));
  return outputs.flatMap((item) => (item.type === 'chunk' ? item.moduleIds : []));
}

if (import.meta.main) await buildInspector(process.argv[2]);
