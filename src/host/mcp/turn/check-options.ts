import { CoxswainError } from '../../../contracts/index.ts';
import type { Shape } from '../../../session/index.ts';
import {
  anything,
  checkIs,
  checkLimits,
  checkOptions,
  flag,
  fn,
  having,
  kindOf,
  name,
  names,
  number,
  object,
  oneOf,
  permissionMode,
  text,
} from '../../../session/index.ts';
import type { AgentHost } from '../../index.ts';
import type { McpOptions, McpServeOptions, McpStdioOptions, McpTaskOptions } from './options.ts';

// Numbers, names of hosts and the secret are told about by their own checks.
const common: Shape<McpOptions> = {
  agents: names,
  name,
  version: text,
  instructions: text,
  progressMs: anything,
  answerMs: anything,
  stateKey: { needs: 'text or bytes', fits: (value) => text.fits(value) || value instanceof Uint8Array },
  unanswerable: oneOf('park', 'deny'),
  settleAt: fn,
  conversations: flag,
  cards: flag,
  tasks: { needs: 'false, or an object', fits: (value) => value === false || object.fits(value) },
  permissionMode,
  limits: object,
  configure: fn,
  warn: fn,
};
const http: Shape<McpServeOptions> = {
  ...common,
  authenticate: fn,
  allowedHosts: names,
  allowedOrigins: names,
  maxSessions: anything,
  sessionIdleMs: anything,
  resumeBytes: anything,
  maxBodyBytes: anything,
  port: number,
  hostname: name,
  path: text,
};
const tasks: Shape<McpTaskOptions> = { afterMs: anything, support: object, maxRunning: anything };
const stdio: Shape<McpStdioOptions> = { ...common, input: having('on'), output: having('write') };

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export const mcpInput = {
  factory: (host: AgentHost, options: McpOptions): void => check(host, options, common),
  http: (host: AgentHost, options: McpServeOptions): void => check(host, options, http),
  stdio: (host: AgentHost, options: McpStdioOptions): void => check(host, options, stdio),
};

/** Of the options of a server, those of its factory. */
export function factoryOptions(options: McpOptions): McpOptions {
  const given = Object.entries(options).filter(([option]) => Object.hasOwn(common, option));
  return Object.fromEntries(given);
}

function check<T extends McpOptions>(host: AgentHost, options: T, shape: Shape<T>): void {
  checkIs(host, 'MCP: host', { needs: 'a host of createHost()', fits: having('open', 'sessions', 'close').fits });
  checkOptions<T>(options, 'MCP: options', shape);
  if (options.tasks) {
    checkOptions<McpTaskOptions>(options.tasks, 'MCP: options.tasks', tasks);
    checkNumbers(options.tasks, ['afterMs', 'maxRunning']);
    for (const [agent, support] of Object.entries(options.tasks.support ?? {})) {
      checkIs(support, `MCP: options.tasks.support.${agent}`, oneOf('forbidden', 'optional', 'required'));
    }
  }
  if (options.limits !== undefined) checkLimits(options.limits, 'MCP: options.limits');
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for an option that is no number above 0 */
export function checkNumbers(options: object, names: readonly string[]): void {
  for (const name of names) {
    const value = (options as Record<string, unknown>)[name];
    if (value === undefined || (typeof value === 'number' && value > 0)) continue;
    throw bad(`${name} is ${kindOf(value)}; it is a number above 0`);
  }
}

/** As they are compared: names without scheme and port. */
export function hostNames(option: string, names: readonly string[]): string[] {
  return names.map((name) => {
    const url = URL.canParse(`http://${name}`) ? new URL(`http://${name}`) : undefined;
    if (url?.hostname === name.toLowerCase()) return url.hostname;
    throw bad(
      `${option} has ${JSON.stringify(name)}; it takes names of hosts, without scheme and port: agents.example`,
    );
  });
}

/** Whole origins (`https://app.example`), and names of hosts whose pages are let in whatever their scheme and port. */
export function pagesOf(option: string, entries: readonly string[]): { origins: Set<string>; names: string[] } {
  const whole = entries.filter((entry) => entry.includes('://'));
  const wrong = whole.find((entry) => !URL.canParse(entry) || new URL(entry).origin !== entry.toLowerCase());
  if (wrong !== undefined) throw bad(`${option} has ${JSON.stringify(wrong)}; an origin is like https://app.example`);
  return {
    origins: new Set(whole.map((entry) => new URL(entry).origin)),
    names: hostNames(
      option,
      entries.filter((entry) => !entry.includes('://')),
    ),
  };
}

export function bad(message: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', `MCP: ${message}`);
}
