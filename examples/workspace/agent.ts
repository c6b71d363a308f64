import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { AgentModule, AgentModuleContext, Model } from 'coxswain';
import { LlmAgent } from 'coxswain';
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
      model: context.model ?? standIn(context),
    }),
    tools: workspaceTools(root),
    examples: ['find every TODO and write them to todo.md'],
    prices: { 'offline-rules': { input: 0, output: 0 } },
  };
}

/** Without a key nobody is asked: a few rules stand in for a model. */
function standIn({ interactive, modelWhy, note }: AgentModuleContext): Model {
  const model = offlineModel({ delayMs: interactive ? 15 : 0 });
  note(
    interactive
      ? `model ${model.name} (no key is set)`
      : `model ${model.name}: ${modelWhy}; set one, or OPENAI_BASE_URL, for a real model`,
  );
  return model;
}

function workingCopy(context: AgentModuleContext): string {
  const copy = join(context.dataFolder(), 'workspace');
  const shown = relative(context.cwd, copy);
  if (existsSync(copy)) {
    context.note(`folder ${shown}`);
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
  context.note(`folder ${shown}, a copy of examples/workspace/files`);
  return copy;
}
