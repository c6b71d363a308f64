import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ConformanceTarget, ModelServer, RunningExecutor } from '../../conformance/index.ts';
import { targetOfCommand, targetOfFactory, targetOfSource } from '../../conformance/index.ts';
import type { AgentDescriptor, AgentSource, SessionFactory } from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../../contracts/index.ts';
import type { Agent } from '../../runtime/index.ts';
import { usageError } from '../terminal/index.ts';
import { offerOwnPackage } from '../workspace/index.ts';

export interface TargetOptions {
  /** Its address is in the environment of commands, and of modules. */
  models?: ModelServer;
  /** Which agent of a server. Default: its only one. */
  agent?: string;
  /** Bearer token for a server; default `COXSWAIN_TOKEN`. */
  token?: string;
}

const MODULE = /\.[cm]?[jt]s$/;

/** Whether the words name a module, which is run in this process. */
export function isModule([first = '', ...more]: readonly string[]): boolean {
  return more.length === 0 && MODULE.test(first);
}

/**
 * What the words after `coxswain conformance` mean: the address of a server, a module, or a command with its arguments.
 * @throws CoxswainError `INVALID_ARGUMENT / E_USAGE`
 */
export async function findTarget(words: readonly string[], options: TargetOptions): Promise<ConformanceTarget> {
  const [first = '', ...more] = words;
  if (first === '') throw usageError('name a module, a ws:// or http:// address, or a command after --');
  if (more.length > 0) return command(words, options);
  if (/^(ws|http)s?:\/\//.test(first)) return targetOfUrl(first, options);
  if (MODULE.test(first) && existsSync(first)) return targetOfModule(first, options);
  if (MODULE.test(first)) throw usageError(`there is no module ${first}; to start a command, write it after --`);
  if (existsSync(first) && statSync(first).isDirectory())
    throw usageError(`${first} is a folder; name the module in it`);
  if (/\s/.test(first) && !existsSync(first))
    throw usageError(`write the command without quotes, after --: -- ${first}`);
  return command(words, options);
}

function command(words: readonly string[], options: TargetOptions): ConformanceTarget {
  const target = targetOfCommand(words, options.models ? { env: options.models.env } : {});
  return { name: target.name, start: async (how) => withModels(await target.start(how), options) };
}

/** Whether it asks the model server is seen when it is judged. */
function withModels(executor: RunningExecutor, { models }: TargetOptions): RunningExecutor {
  return models && executor.models === undefined ? Object.assign(executor, { models }) : executor;
}

function targetOfUrl(url: string, options: TargetOptions): ConformanceTarget {
  return {
    name: new URL(url).host,
    async start() {
      const { connect } = await import('../../adapters/remote/index.ts');
      const token = options.token ?? process.env.COXSWAIN_TOKEN;
      const remote = await connect(url, token === undefined ? {} : { token }).catch((error: unknown) => {
        if (!isCoxswainError(error) || error.code !== 'E_UNAUTHENTICATED') throw error;
        const hint = token === undefined ? 'does it want a --token?' : 'is the token the right one?';
        throw new CoxswainError(error.status, error.code, `no connection to ${url} (${error.message}); ${hint}`);
      });
      const names = remote.agents.map(({ name }) => name);
      const agent = options.agent ?? names[0];
      if (agent === undefined || (options.agent === undefined && names.length > 1) || !names.includes(agent)) {
        await remote.close();
        throw usageError(`--agent: name one of the server's agents: ${names.join(', ') || 'it has none'}`);
      }
      return { open: (ref = {}) => remote.open(agent, ref), close: () => remote.close() };
    },
  };
}

type Exported = AgentSource | Agent | ConformanceTarget | { factory: SessionFactory; descriptor: AgentDescriptor };

/** A module exports what is judged as its default, or a function that makes it, called for every check. */
async function targetOfModule(path: string, options: TargetOptions): Promise<ConformanceTarget> {
  Object.assign(process.env, options.models?.env);
  offerOwnPackage();
  const exported = (await import(pathToFileURL(resolve(path)).href)) as Record<string, unknown>;
  const found = exported.default ?? exported.target ?? exported.agent ?? exported;
  const make = typeof found === 'function' ? (found as () => unknown) : () => found;
  return {
    name: path,
    start: async (how) => withModels(await (await asTarget(path, await make())).start(how), options),
  };
}

async function asTarget(path: string, value: unknown): Promise<ConformanceTarget> {
  const given = value as Partial<Record<keyof (AgentSource & ConformanceTarget), unknown>> & {
    factory?: SessionFactory;
    agent?: unknown;
    run?: unknown;
  };
  if (typeof value === 'object' && value !== null) {
    if (typeof given.start === 'function') return value as ConformanceTarget;
    if (typeof given.open === 'function') return targetOfSource(path, () => value as AgentSource);
    if (given.factory && given.descriptor) {
      const { factory } = given;
      return targetOfFactory(path, given.descriptor as AgentDescriptor, () => factory);
    }
    if (typeof given.run === 'function') {
      const { fromAgent } = await import('../../adapters/adk/index.ts');
      return targetOfSource(path, () => fromAgent(value as Agent));
    }
    if (given.agent) return asTarget(path, given.agent as Exported);
  }
  throw usageError(
    `${path} exports nothing to test; export an Agent, an AgentSource, {factory, descriptor} or a ConformanceTarget ` +
      'as its default, or a function that makes one',
  );
}
