import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AgentSource } from '../../contracts/index.ts';
import { isCoxswainError } from '../../contracts/index.ts';
import type { AgentModule, AgentModuleContext } from '../../embed/index.ts';
import type { Agent } from '../../runtime/index.ts';
import { usageError } from '../terminal/index.ts';
import { dataFolder } from './data-folder.ts';
import type { ModelChoice } from './model.ts';
import { offerOwnPackage } from './own-package.ts';

/**
 * Loads an agent module.
 * @throws CoxswainError `INVALID_ARGUMENT / E_USAGE`: no such file, no agent in it; else what the module throws
 */
export async function loadAgentModule(path: string, context: AgentModuleContext): Promise<AgentModule> {
  const exported = await importFile(path);
  const found = exported.default === undefined ? exported : exported.default;
  try {
    const value = typeof found === 'function' ? await found(context) : found;
    return asModule(value, typeof found === 'function' ? {} : exported, path);
  } catch (error) {
    if (isCoxswainError(error)) throw error;
    throw (await import('./module-fault.ts')).loadFault(path, error);
  }
}

/** Whether the module makes its agent when it is told where it works: a function that is the default export. */
export async function isMade(path: string): Promise<boolean> {
  return typeof (await importFile(path)).default === 'function';
}

async function importFile(path: string): Promise<Record<string, unknown>> {
  const file = resolve(path);
  if (!existsSync(file)) throw usageError(`there is no agent module ${path}; give the path of a .js, .mjs or .ts file`);
  if (statSync(file).isDirectory()) throw usageError(`${path} is a folder; give the file in it that exports the agent`);
  offerOwnPackage();
  try {
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (error) {
    if (isCoxswainError(error)) throw error;
    const { moduleFault } = await import('./module-fault.ts');
    throw moduleFault(path, file, error);
  }
}

function asModule(value: unknown, exported: Record<string, unknown>, path: string): AgentModule {
  if (isAgent(value)) return { ...(exported as Partial<AgentModule>), agent: value };
  if (isObject(value) && isAgent(value.agent)) return value as unknown as AgentModule;
  throw usageError(
    `${path} exports no agent; export "agent" (an Agent or an AgentSource), by name, as a member of the default ` +
      'export, or from a function that is the default export',
  );
}

function isAgent(value: unknown): value is Agent | AgentSource {
  if (!isObject(value)) return false;
  return typeof value.run === 'function' || (typeof value.open === 'function' && isObject(value.descriptor));
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** What modules are told by this command. */
export function moduleContext(options: {
  workspace: string | undefined;
  interactive: boolean;
  note: (text: string) => void;
  choice: ModelChoice;
}): AgentModuleContext {
  const { workspace, choice } = options;
  if (workspace !== undefined && !(existsSync(workspace) && statSync(workspace).isDirectory())) {
    throw usageError(`--workspace: there is no folder ${workspace}`);
  }
  return {
    workspace: workspace === undefined ? undefined : resolve(workspace),
    cwd: process.cwd(),
    env: process.env,
    get model() {
      return choice.model();
    },
    modelWhy: choice.why,
    interactive: options.interactive,
    dataFolder,
    note: options.note,
  };
}
