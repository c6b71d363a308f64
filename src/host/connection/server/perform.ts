import type { RpcMethod } from '../../../contracts/index.ts';
import { checkParams, protocolError } from '../protocol/index.ts';
import type { Authorize } from './authorize.ts';
import { assertAllowed } from './authorize.ts';
import type { Caller } from './caller.ts';
import { largeAnswers, methodNamed } from './methods.ts';

/** Methods that nobody is asked about: they show and change nothing. */
const unasked: ReadonlySet<string> = new Set<RpcMethod>(['ping', 'session/ack']);

/**
 * What a client asks for, whatever it came over: the params are checked, `authorize` is asked, and it is done if whoever
 * asked may still ask by then. `inTurn` does what has a large answer, `once` what is done once for a key.
 * @throws CoxswainError `E_PROTOCOL`, `E_FORBIDDEN`, what the method refuses
 */
export function perform(
  caller: Caller,
  method: string,
  given: unknown,
  authorize: Authorize | undefined,
  inTurn: (act: () => unknown) => unknown = (act) => act(),
  once: (act: () => unknown) => unknown = (act) => act(),
): unknown {
  const run = methodNamed(method);
  if (!run) throw protocolError(`there is no method ${JSON.stringify(method.slice(0, 64))}`, 'UNIMPLEMENTED');
  const checked = checkParams(method as RpcMethod, given);
  const act = () => {
    caller.assertCurrent();
    return once(() => run(caller, checked));
  };
  const begin = largeAnswers.has(method) ? () => inTurn(act) : act;
  if (!authorize || unasked.has(method)) return begin();
  return assertAllowed(authorize, caller.principal, method, checked, caller.hub.options.warn).then(begin);
}

/**
 * Whether its client may do what a method does, where it is done in another way than by calling it.
 * @throws CoxswainError `PERMISSION_DENIED / E_FORBIDDEN`
 */
export async function assertMay(
  caller: Caller,
  method: RpcMethod,
  params: Record<string, unknown>,
  authorize: Authorize | undefined,
): Promise<void> {
  if (authorize) await assertAllowed(authorize, caller.principal, method, params, caller.hub.options.warn);
  caller.assertCurrent();
}
