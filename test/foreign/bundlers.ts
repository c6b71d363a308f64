import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { OutputOptions } from 'rolldown';
import { rolldown } from 'rolldown';
import { build as vite } from 'vite';
import { installed } from '../installed.ts';

/** One file of a project, made into one file that needs nothing beside it. */
export interface Job {
  /** The project. */
  folder: string;
  /** In the project. */
  entry: string;
  /** Where the result goes. */
  outfile: string;
  platform: 'node' | 'browser';
}

export type Bundler = (job: Job) => Promise<void>;

const consumers = join(import.meta.dirname, 'consumers');
/** Why the packages that only these tests need are not here; undefined if they are. */
export const missing = installed(consumers);

const load = async (file: string): Promise<unknown> =>
  import(pathToFileURL(join(consumers, 'node_modules', file)).href);

/** Of their own types is used what is written here: the packages are installed when the tests run. */
interface Esbuild {
  build(options: object): Promise<unknown>;
}
type Webpack = (
  options: object,
  done: (error: Error | null, stats?: { hasErrors(): boolean; toString(options: object): string }) => void,
) => void;

const esbuild =
  (format: 'esm' | 'cjs'): Bundler =>
  async ({ folder, entry, outfile, platform }) => {
    const { build } = (await load('esbuild/lib/main.js')) as Esbuild;
    await build({
      absWorkingDir: folder,
      entryPoints: [entry],
      outfile,
      platform,
      bundle: true,
      format: platform === 'node' ? format : 'iife',
      logLevel: 'silent',
    });
  };

const output = ({ outfile, platform }: Job): OutputOptions => ({
  format: platform === 'node' ? 'esm' : 'iife',
  entryFileNames: outfile.slice(dirname(outfile).length + 1),
  codeSplitting: false,
});

export const bundlers: Readonly<Record<string, Bundler>> = {
  esbuild: esbuild('esm'),
  'esbuild to CommonJS': esbuild('cjs'),
  async rolldown(job) {
    const bundle = await rolldown({
      cwd: job.folder,
      input: job.entry,
      platform: job.platform,
      onLog(level, log) {
        // It leaves out what is not there, and says so.
        if (level === 'warn' && log.code !== 'UNRESOLVED_IMPORT') throw new Error(log.message);
      },
    });
    await bundle.write({ ...output(job), dir: dirname(job.outfile) });
    await bundle.close();
  },
  async vite(job) {
    await vite({
      configFile: false,
      root: job.folder,
      logLevel: 'silent',
      ssr: { noExternal: true },
      build: {
        outDir: dirname(job.outfile),
        ...(job.platform === 'node' ? { ssr: job.entry } : {}),
        rolldownOptions: { input: job.entry, output: output(job) },
      },
    });
  },
  async webpack({ folder, entry, outfile, platform }) {
    const { default: webpack } = (await load('webpack/lib/index.js')) as { default: Webpack };
    const isNode = platform === 'node';
    const options = {
      context: folder,
      mode: 'production',
      target: isNode ? 'node22' : 'web',
      entry: `./${entry}`,
      experiments: { outputModule: isNode },
      output: {
        path: dirname(outfile),
        filename: outfile.slice(dirname(outfile).length + 1),
        ...(isNode ? { module: true, chunkFormat: 'module' } : {}),
      },
      optimization: { minimize: false },
    };
    mkdirSync(dirname(outfile), { recursive: true });
    await new Promise<void>((resolve, reject) => {
      webpack(options, (error, stats) => {
        if (error || !stats) reject(error ?? new Error('webpack says nothing'));
        else if (stats.hasErrors()) reject(new Error(stats.toString({ colors: false, all: false, errors: true })));
        else resolve();
      });
    });
  },
};
