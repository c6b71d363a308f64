import type { Shape } from '../../session/index.ts';
import {
  badInput,
  bag,
  checkIs,
  checkOptions,
  flag,
  fn,
  having,
  names,
  object,
  oneOf,
  permissionMode,
  required,
  text,
} from '../../session/index.ts';
import type { ServerOptions } from '../connection/index.ts';
import type { AgentHost } from '../index.ts';
import type { HttpOptions } from './options.ts';

const options: Shape<HttpOptions> = {
  authenticate: required(fn),
  basePath: text,
  authorize: fn,
  allowedOrigins: names,
  allowedHosts: names,
  cors: {
    needs: 'true, false or { credentials: boolean }',
    fits: (value) =>
      flag.fits(value) || (object.fits(value) && flag.fits((value as { credentials?: unknown }).credentials)),
  },
  ceiling: object,
  limits: bag,
  onDisconnect: oneOf('continue', 'abort'),
  log: fn,
  warn: fn,
};

const ceiling: Shape<ServerOptions> = { permissionMode, models: names, clientTools: flag, config: flag };

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function checkHttp(host: AgentHost, given: HttpOptions): void {
  checkIs(host, 'createHttp: host', {
    needs: 'a host of createHost()',
    fits: having('open', 'sessions', 'close').fits,
  });
  checkOptions<HttpOptions>(given, 'createHttp: options', options);
  if (given.ceiling !== undefined) checkOptions<ServerOptions>(given.ceiling, 'createHttp: options.ceiling', ceiling);
  if (given.basePath !== undefined) checkBasePath(given.basePath, 'createHttp: options.basePath');
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function checkBasePath(path: string, where: string): void {
  if (path === '' || /^(\/[\w.~-]+)+$/.test(path)) return;
  throw badInput(`${where} is ${JSON.stringify(path)}; it is a path without its end, like /api/agents`);
}
