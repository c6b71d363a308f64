/** For another Node: tries the store of a URL, and writes what failed as a JSON list. */
import { tryStore } from './store-trial.ts';

const failed: string[] = [];
const check = async (what: string, work: () => Promise<string>) => {
  try {
    await work();
  } catch (error) {
    failed.push(`${what}: ${String(error)}`);
  }
};
await tryStore({ check }, process.argv[2] ?? '');
process.stdout.write(JSON.stringify(failed));
