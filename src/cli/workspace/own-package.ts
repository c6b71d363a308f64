import * as nodeModule from 'node:module';

/**
 * Lets agent modules import `coxswain` where it is not installed beside them: they are given this copy, so that
 * `npx coxswain run agent.ts` needs no project around it. An installed one comes first. Node before 22.15 has no such
 * hook: there the import fails with the command that installs the package.
 */
export function offerOwnPackage(): void {
  if (isOffered) return;
  isOffered = true;
  nodeModule.registerHooks?.({
    resolve(specifier, context, next) {
      try {
        return next(specifier, context);
      } catch (error) {
        const isOwn = /^coxswain(\/|$)/.test(specifier) && context.parentURL !== import.meta.url;
        if (!isOwn || (error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
        return next(ownFile(import.meta.resolve(specifier)), context);
      }
    },
  });
}

let isOffered = false;

/** In a checkout the sources run, whether they are built or not. */
function ownFile(url: string): string {
  return import.meta.filename.endsWith('.ts') ? url.replace('/dist/', '/src/').replace(/\.js$/, '.ts') : url;
}
