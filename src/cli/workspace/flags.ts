import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import type { Limits, PermissionMode } from '../../contracts/index.ts';
import { assertSafeId, messageOf, PERMISSION_MODES } from '../../contracts/index.ts';
import { DEFAULT_STORE } from './store.ts';

export interface CommonFlags {
  verbose?: true;
}

export interface StoreFlags extends CommonFlags {
  store: string;
  app: string;
  user: string;
}

export type ApproveMode = 'ask' | 'allow' | 'deny';

/** What decides how calls are judged. */
export interface HostFlags extends StoreFlags {
  policy?: string;
  mode?: PermissionMode;
  approve: ApproveMode;
  workspace?: string;
  model?: string;
  mcpServers?: string;
  /** What one program takes upon itself: turns at a time, and MiB of memory. */
  maxTurns?: number;
  maxMemory?: number;
  /** What becomes of turns of another version of the agent. */
  agentChanged?: 'go' | 'ask' | 'hold';
}

export interface LimitFlags {
  maxUsd?: number;
  maxTokens?: number;
  maxSteps?: number;
  /** Minutes. */
  timeout?: number;
}

export interface RunFlags extends HostFlags, LimitFlags {
  json?: true;
  streamJson?: true;
}

export function addCommonFlags(command: Command): Command {
  return command.option('--verbose', 'show where an error comes from');
}

export function addStoreFlags(command: Command): Command {
  return addCommonFlags(command)
    .addOption(storeOption())
    .option('--app <name>', 'name space of the sessions', id('app'), 'cli')
    .option('--user <name>', 'whose sessions; also who asks for what a run does', id('user'), userName());
}

export function storeOption(): Option {
  return new Option('--store <url>', 'where sessions are kept: sqlite:PATH, postgres://…, mysql://…, memory:')
    .env('COXSWAIN_STORE')
    .default(DEFAULT_STORE);
}

export function addHostFlags(command: Command): Command {
  return addStoreFlags(command)
    .option('--policy <file>', "rules (YAML, JSON), Cedar (.cedar) or a policy server's URL, instead of the module's")
    .addOption(new Option('--mode <mode>', 'permission mode').choices(PERMISSION_MODES))
    .addOption(
      new Option('--approve <how>', 'what to do about a call that needs approval')
        .choices(['ask', 'allow', 'deny'])
        .default('ask'),
    )
    .option('--workspace <dir>', 'folder that is handed to the agent module')
    .option('--mcp-servers <file>', 'MCP servers whose tools the agent gets: JSON, {"mcpServers": {…}}')
    .option('--model <name>', 'model to ask, by name or as provider/name; else the environment or the module says');
}

export function addRunFlags(command: Command): Command {
  return addLimitFlags(
    addHostFlags(command)
      .option('--json', 'durable events as JSON lines on stdout, and nothing else')
      .option('--stream-json', 'all events as JSON lines on stdout, partial ones included'),
  );
}

export function addLimitFlags(command: Command): Command {
  return command
    .option('--max-usd <n>', 'money that a turn may cost; needs prices', positive)
    .option('--max-tokens <n>', 'tokens that a turn may use', positiveWhole)
    .option('--max-steps <n>', 'model calls that a turn may make', positiveWhole)
    .option('--timeout <time>', 'time that a turn may take: minutes, or 30s, 5m, 1h', minutes);
}

/** Limits as flags give them. */
export function limitsFromFlags({ maxSteps, maxTokens, maxUsd, timeout }: LimitFlags): Limits {
  return {
    ...(maxSteps === undefined ? {} : { steps: maxSteps }),
    ...(maxTokens === undefined ? {} : { tokens: maxTokens }),
    ...(maxUsd === undefined ? {} : { usd: maxUsd }),
    ...(timeout === undefined ? {} : { minutes: timeout }),
  };
}

function positive(text: string): number {
  const value = Number(text);
  if (!/^\d*\.?\d+$/.test(text) || !(value > 0)) throw new InvalidArgumentError('Give a number above 0.');
  return value;
}

export function positiveWhole(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < 1) {
    throw new InvalidArgumentError('Give a whole number above 0.');
  }
  return value;
}

export function whole(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value))
    throw new InvalidArgumentError('Give a whole number from 0.');
  return value;
}

export function port(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('Give a port from 0 to 65535.');
  return Number(text);
}

const perAge: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** `12h`, `30d`, `8w` in milliseconds. */
export function age(text: string): number {
  const found = /^(\d{1,6})([mhdw])$/.exec(text);
  if (!found) throw new InvalidArgumentError('Give a time like 12h, 30d or 8w.');
  return Number(found[1]) * (perAge[found[2] ?? ''] ?? 0);
}

const perMinute: Record<string, number> = { s: 60, m: 1, h: 1 / 60 };

/** `30s`, `5m`, `1h`; a bare number is minutes. */
export function minutes(text: string): number {
  const found = /^(\d*\.?\d+)([smh]?)$/.exec(text);
  const value = Number(found?.[1]) / (perMinute[found?.[2] || 'm'] ?? 1);
  if (!found || !(value > 0) || value > 35_000) throw new InvalidArgumentError('Give minutes, or 30s, 5m, 1h.');
  return value;
}

function id(kind: string): (text: string) => string {
  return (text) => {
    try {
      assertSafeId(kind, text);
      return text;
    } catch (error) {
      throw new InvalidArgumentError(messageOf(error));
    }
  };
}

/** Who sits here, by the system's word. */
export function userName(): string {
  try {
    const { username } = userInfo();
    assertSafeId('user', username);
    return username;
  } catch {
    return 'local';
  }
}
