import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serversOfThisRun } from './servers.ts';

/** Nothing is started here: only by a test file that needs a server and finds none. */
export default function setup(): () => Promise<void> {
  return serversOfThisRun(join(tmpdir(), `coxswain-servers-${process.pid}`));
}
