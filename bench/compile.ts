import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..');

/**
 * Compiles sources and benchmarks into a folder of their own: users run JavaScript, and stripping types costs time
 * and memory that a cold start must not be charged for. Inside node_modules, so that dependencies are found. `base`: the
 * folder with `src` and `bench`.
 */
export async function compile(base = root): Promise<{ folder: string; remove(): void }> {
  const cache = join(root, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'bench-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  const project = join(folder, 'tsconfig.json');
  writeFileSync(
    project,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        noCheck: true,
        rootDir: base,
        outDir: folder,
        typeRoots: [join(root, 'node_modules/@types')],
      },
      include: [join(base, 'bench'), join(base, 'src')],
    }),
  );
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  try {
    await promisify(execFile)(process.execPath, [compiler, '-p', project]);
  } catch (error) {
    remove();
    throw new Error(`the sources do not compile: ${(error as { stdout?: string }).stdout ?? ''}`, { cause: error });
  }
  if (!existsSync(join(folder, 'bench', 'child.js'))) throw new Error('the compiler has written nothing');
  return { folder: join(folder, 'bench'), remove };
}
