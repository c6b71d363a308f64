#!/usr/bin/env node
import { nodeVersionFault } from './node-version.ts';

const fault = nodeVersionFault(process.versions.node);
if (fault === undefined) {
  // Halves the start-up from the second run on; NODE_DISABLE_COMPILE_CACHE=1 turns it off.
  const { enableCompileCache } = await import('node:module');
  enableCompileCache();
  // Loaded behind the check: an older Node may not even be able to parse it.
  const { main } = await import('./cli/main.ts');
  await main(process.argv.slice(2));
} else {
  process.stderr.write(`coxswain: E_NODE_VERSION ${fault}\n`);
  process.exitCode = 1;
}
