import { CoxswainError, messageOf } from '../../../../contracts/index.ts';
import type { Shape } from '../../../../session/index.ts';
import {
  anything,
  checkOptions,
  either,
  flag,
  fn,
  having,
  kindOf,
  names,
  object,
  off,
  oneOf,
  text,
  texts,
} from '../../../../session/index.ts';
import type { McpCommand, McpServer, McpToolsetOptions, McpUrl } from './options.ts';

/** Shorter ones would blank out ordinary words. */
const MIN_SECRET = 6;
const MAX_CAUSES = 5;

/**
 * Says what went wrong, down to the cause, without what was given to be kept: values of headers, of the address's
 * query and of a child's environment, wherever an error's text repeats them.
 */
export function explainer(server: McpServer): (error: unknown) => string {
  const secrets = secretsOf(server);
  return (error) => {
    const words: string[] = [];
    // What came of itself is told once, and nothing goes round.
    for (let at = error; at !== undefined && at !== null && words.length < MAX_CAUSES; at = causeOf(at)) {
      const said = messageOf(at);
      if (!words.some((word) => word.includes(said))) words.push(said);
    }
    return secrets.reduce((text, secret) => text.replaceAll(secret, '***'), words.join(': '));
  };
}

/** Of a failure that was tried in several ways the first will do. */
function causeOf(error: unknown): unknown {
  const { cause, errors } = Object(error) as { cause?: unknown; errors?: unknown };
  return cause ?? (Array.isArray(errors) ? errors[0] : undefined);
}

function secretsOf(server: McpServer): string[] {
  if (!('url' in server)) return longestFirst(Object.values(server.env ?? {}));
  const values = Object.values(server.headers ?? {}).flatMap((value) => [value, value.split(' ').at(-1) ?? '']);
  const { searchParams, search } = new URL(server.url);
  return longestFirst([...values, ...searchParams.values(), ...search.slice(1).split(/[&=]/)]);
}

/** A part of one may be another one. */
function longestFirst(given: string[]): string[] {
  return [...new Set(given)].filter(({ length }) => length >= MIN_SECRET).sort((a, b) => b.length - a.length);
}

/** Why a server cannot be reached as it is written; undefined: it can be tried. Quotes no value. */
export function faultOf(server: McpServer): string | undefined {
  if (!('url' in server)) return server.command ? undefined : 'command is empty; it is to be a command or a URL';
  if (!URL.canParse(server.url)) return 'url is no http address';
  const { protocol, username, password } = new URL(server.url);
  if (protocol !== 'http:' && protocol !== 'https:') return 'url is no http address';
  if (username !== '' || password !== '')
    return 'url holds a user or a password; put them into the header Authorization';
  for (const [name, value] of Object.entries(server.headers ?? {})) {
    try {
      new Headers([[name, value]]);
    } catch {
      return `headers.${name} has a name or a value that HTTP does not take (a line break?)`;
    }
  }
  return undefined;
}

// Times are numbers above 0, which is said below.
const shape: Shape<McpCommand & McpUrl & McpToolsetOptions> = {
  command: text,
  args: names,
  env: texts,
  cwd: text,
  stderr: oneOf('ignore', 'inherit'),
  url: text,
  headers: texts,
  authProvider: object,
  name: text,
  prefix: text,
  include: fn,
  trustAnnotations: flag,
  pins: having('get', 'set'),
  protocol: oneOf('auto', 'legacy'),
  readResources: flag,
  optional: flag,
  idleMs: anything,
  connectMs: anything,
  listMs: anything,
  retryMs: anything,
  onElicitation: either(fn, off),
  answerMs: anything,
  warn: fn,
};

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function checkServer(server: McpServer, options: McpToolsetOptions): void {
  checkOptions<McpCommand & McpUrl & McpToolsetOptions>({ ...server, ...options }, 'mcpToolset: options', shape);
  const { name, idleMs = 1, connectMs = 1, listMs = 1, retryMs = 1, answerMs = 1 } = options;
  const times = { idleMs, connectMs, listMs, retryMs, answerMs };
  const wrong = Object.entries(times).find(([, ms]) => !(typeof ms === 'number' && ms > 0));
  const fault = faultOf(server) ?? (wrong && `${wrong[0]} is ${kindOf(wrong[1])}; it is a number above 0`);
  if (fault === undefined) return;
  throw new CoxswainError(
    'INVALID_ARGUMENT',
    'E_BAD_INPUT',
    `MCP server${name === undefined ? '' : ` ${name}`}: ${fault}`,
  );
}
