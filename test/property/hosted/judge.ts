import { canonicalJson } from '../../../src/contracts/index.ts';
import type { Call, Run, World } from './world.ts';
import { Ledger } from './world.ts';

const neverRan = ['denied', 'cancelled', 'not_found', 'invalid_args', 'truncated'];

/** All that is wrong with a life, from its log and from what the tools did. */
export function judge(world: World): string[] {
  const ledger = new Ledger(world.log);
  const faults = [...ledger.faults];
  for (const call of ledger.calls.values()) {
    if (call.answered === 0) faults.push(`${call.part.name} ${String(call.part.args.k)} dangles`);
  }
  for (const [callId, runs] of Map.groupBy(world.runs, (run) => run.callId)) {
    const call = ledger.calls.get(callId);
    if (!call) faults.push(`${runs[0]?.name} ran without a call in the log`);
    else faults.push(...runFaults(call, runs));
  }
  return faults;
}

function runFaults(call: Call, runs: readonly Run[]): string[] {
  const faults: string[] = [];
  const { response, decisions, answers, asks } = call;
  const what = `${call.part.name} ${String(call.part.args.k)}`;
  const effects = runs.filter(({ effect }) => effect);
  const [first] = runs;
  const errorType = response?.errorType ?? '';
  // What may run again, and what has had its first word, is dropped as if it had not run.
  // A run that may be repeated leaves no mark before its result: one that died with its process is not known.
  const isDropped = ['cancelled', 'denied'].includes(errorType) && first?.repeatable;
  const wasRefused = neverRan.includes(errorType) && !isDropped;
  // One more run may be refused after one whose outcome is unknown.
  const reruns = answers.filter(({ requestId, answer }) => isRerun(requestId, asks) && answer.action === 'accept');
  if (wasRefused && effects.length > 0 && runs.length === 1) faults.push(`${what} ran and ended as ${errorType}`);
  const free = call.part.name.endsWith('retry');
  if (!first?.repeatable && !free && effects.length > 1 + reruns.length) {
    faults.push(`${what} ran ${effects.length} times, ${1 + reruns.length} allowed`);
  }
  for (const run of runs) {
    const approved = decisions.filter(({ outcome }) => outcome === 'approved');
    const yes = approved.filter(({ at }) => run.repeatable || at < run.at);
    const lawful = [...approved, ...reruns.map(({ answer }) => answer)].map(({ args }) => args ?? call.part.args);
    const isLost = run.repeatable && yes.length === 0 && ['cancelled', 'interrupted', 'denied'].includes(errorType);
    // What may run again has its one decision with its result: of the run that only asked nothing is kept.
    if (isLost || (run.repeatable && (!run.effect || runs.length > 1))) continue;
    if (yes.length === 0) faults.push(`${what} ran without an approved decision in the log`);
    else if (!lawful.some((args) => sameArgs(args, run.args))) {
      faults.push(`${what} ran with ${canonicalJson(run.args)}, which nobody approved`);
    }
  }
  return faults;
}

function sameArgs(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

function isRerun(requestId: string, asks: Call['asks']): boolean {
  return /#rerun/.test(requestId) || asks.some((ask) => ask.requestId === requestId && ask.kind === 'rerun_unknown');
}
