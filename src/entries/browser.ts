/**
 * The package's main entry where there is no Node: what runs anywhere is the same, what needs Node says so when it is
 * called, and not at the import of something else.
 */
import { CoxswainError } from '../contracts/index.ts';

export { CoxswainError, defineAgentTool, defineTool, hooks, isCoxswainError, textOfParts } from '../contracts/index.ts';
export { auditOf, createView, readStream, run, runOrThrow, textOf } from '../session/index.ts';

export const {
  agentTool,
  allowAll,
  CustomAgent,
  composeAgent,
  createHost,
  createSessionFactory,
  denyAll,
  denyOverrides,
  fromAgent,
  InMemorySessionService,
  LlmAgent,
  LoopAgent,
  loadPolicy,
  ParallelAgent,
  policyFor,
  presetPolicy,
  rulePolicy,
  SequentialAgent,
  shadow,
  subagentTool,
} = new Proxy({} as Readonly<Record<string, new () => never>>, { get: (_, name) => ofNode(String(name)) });

/** Called or constructed, as what it stands for would be. */
function ofNode(name: string): new () => never {
  function absent(): never {
    const message = `${name} needs Node: run it on a server, and let pages use its agents by coxswain/client`;
    throw new CoxswainError('FAILED_PRECONDITION', 'E_UNSUPPORTED', message);
  }
  return absent as unknown as new () => never;
}
