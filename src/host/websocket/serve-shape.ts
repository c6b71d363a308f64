import type { Shape } from '../../session/index.ts';
import {
  anything,
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
} from '../../session/index.ts';
import type { ExecutorOptions, ServerOptions } from '../connection/index.ts';
import type { AgentHost } from '../index.ts';
import { source } from '../terms/index.ts';
import type { ServeOptions } from './options.ts';

// Ports and limits have checks of their own.
const common: Shape<ServeOptions> = {
  port: number,
  host: name,
  authenticate: fn,
  principal: object,
  authorize: fn,
  allowedOrigins: names,
  allowedHosts: names,
  lateCredentials: flag,
  limits: bag,
  onDisconnect: oneOf('continue', 'abort'),
  routes: {
    needs: 'an object of functions by path',
    fits: (value) => bag.fits(value) && Object.values(value as object).every(fn.fits),
  },
  log: fn,
  warn: fn,
};
const ceiling: Shape<ServerOptions> = { permissionMode, models: names, clientTools: flag, config: flag };
const executor: Shape<ExecutorOptions> = {
  app: anything,
  agents: required(listOf(source)),
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

function checkOthers({ principal }: ServeOptions, where: string): void {
  if (principal !== undefined) checkPrincipal(principal, `${where}.principal`);
}
