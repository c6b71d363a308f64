import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { AgentModule, AgentModuleContext } from '../../src/cli/agent-module.ts';
import { LlmAgent } from '../../src/index.ts';
import { offlineModel } from './offline-model.ts';
import { workspaceTools } from './tools.ts';

/**
 * The workspace agent, for `coxswain run`. Its tools are the host's, so that each call passes the host's policy.
 * It works on `--workspace`, else on the folder in WORKSPACE, else on a copy of `files/` that is made once.
 */
export default function workspace(context: AgentModuleContext): AgentModule {
  const root = context.workspace ?? context.env.WORKSPACE ?? workingCopy(context);
  return {
    agent: new LlmAgent({
      name: 'workspace',
      description: 'Looks after the files of one folder.',
      instruction: 'You look after the files of one folder. Use the tools; say what you did.',
      // Put a real model here; nothing else changes.
      model: offlineModel({ delayMs: context.interactive ? 15 : 0 }),
    }),
    tools: workspaceTools(root),
    prices: { 'offline-rules': { input: 0, output: 0 } },
  };
}

function workingCopy(context: AgentModuleContext): string {
  const copy = join(context.dataFolder(), 'workspace');
  const shown = relative(context.cwd, copy);
  if (existsSync(copy)) {
    context.note(`workspace ${shown}`);
    return copy;
  }
  // Made beside and moved into place: a copy that was cut off is never taken for a whole one.
  const draft = `${copy}.${process.pid}`;
  cpSync(join(import.meta.dirname, 'files'), draft, { recursive: true });
  try {
    renameSync(draft, copy);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(copy)) throw error;
  }
  context.note(`workspace ${shown}: a copy of examples/workspace/files, ignored by git; --workspace DIR takes another`);
  return copy;
}
