import type { Check, Shape } from '../../session/index.ts';
import {
  anything,
  badInput,
  bag,
  checkIs,
  checkOptions,
  checkPrincipal,
  flag,
  fn,
  having,
  listOf,
  name,
  names,
  number,
  object,
  oneOf,
  permissionMode,
  required,
  text,
} from '../../session/index.ts';
import type { ExecutorOptions, ServerOptions } from '../connection/index.ts';
import { checkBasePath } from '../http/index.ts';
import type { AgentHost } from '../index.ts';
import { source } from '../terms/index.ts';
import type { ServeOptions } from './options.ts';

// Ports and limits have checks of their own.
const common: Shape<ServeOptions> = {
  server: { needs: 'a server of node:http', fits: having('on', 'listen').fits },
  basePath: text,
  http: {
    needs: 'true, false or { cors }',
    fits: (value) => flag.fits(value) || object.fits(value),
  },
  ui: {
    needs: 'true, false or { key, files, traceUrl }',
    fits: (value) => flag.fits(value) || object.fits(value),
  },
  port: number,
  host: name,
  authenticate: fn,
  principal: object,
  authorize: fn,
  operator: fn,
  verify: fn,
  rewind: fn,
  allowedOrigins: names,
  allowedHosts: names,
  lateCredentials: flag,
  limits: bag,
  onDisconnect: oneOf('continue', 'abort'),
  routes: {
    needs: 'an object of functions by path',
    fits: (value) => bag.fits(value) && Object.values(value as object).every(fn.fits),
  },
  figures: fn,
  log: fn,
  warn: fn,
};
const uiKey: Check = {
  needs: '32 bytes',
  fits: (value) => value instanceof Uint8Array && value.length === 32,
};
/** Nothing but an address of the web: the page makes a link of it. */
export const traceUrl: Check = {
  needs: 'an https: or http: address with {traceId} behind its host',
  fits: (value) => {
    if (typeof value !== 'string' || !URL.canParse(value)) return false;
    const { protocol, host } = new URL(value);
    return (protocol === 'https:' || protocol === 'http:') && !/[{%]/.test(host) && value.includes('{traceId}');
  },
};
const ceiling: Shape<ServerOptions> = { permissionMode, models: names, clientTools: flag, config: flag };
const executor: Shape<ExecutorOptions> = {
  app: anything,
  agents: required(listOf(source)),
  store: object,
  sessions: object,
  credentials: object,
  models: anything,
};

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function checkServe(host: AgentHost, options: ServeOptions & { ceiling?: ServerOptions }): void {
  checkIs(host, 'serve: host', { needs: 'a host of createHost()', fits: having('open', 'sessions', 'close').fits });
  checkOptions<typeof options>(options, 'serve: options', { ...common, ceiling: object });
  checkOthers(options, 'serve: options');
  if (options.ceiling === undefined) return;
  checkOptions<ServerOptions>(options.ceiling, 'serve: options.ceiling', ceiling);
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function checkServeExecutor(given: ExecutorOptions, options: ServeOptions): void {
  checkOptions<ExecutorOptions>(given, 'serveExecutor: executor', executor);
  checkOptions<ServeOptions>(options, 'serveExecutor: options', common);
  checkOthers(options, 'serveExecutor: options');
}

function checkOthers({ principal, server, basePath, http, ...rest }: ServeOptions, where: string): void {
  if (basePath !== undefined) checkBasePath(basePath, `${where}.basePath`);
  if (typeof http === 'object') checkOptions<typeof http>(http, `${where}.http`, { cors: anything });
  if (typeof rest.ui === 'object') {
    checkOptions<typeof rest.ui>(rest.ui, `${where}.ui`, { files: text, key: uiKey, traceUrl });
  }
  const own = (['port', 'host', 'routes', 'ui'] as const).filter((member) => rest[member] !== undefined);
  if (server && own.length > 0) {
    throw badInput(`${where} has server and ${own.join(', ')}; those are for a server that is made here`);
  }
  if (principal !== undefined) checkPrincipal(principal, `${where}.principal`);
}
