import type { ParamsOf, RpcMethod, RpcParams } from '../../../contracts/index.ts';
import { CoxswainError, errorRowOf, isCoxswainError, RPC_CODES } from '../../../contracts/index.ts';
import { protocolError } from './json-rpc.ts';

/** Schemas of params: loaded once, by whoever serves. */
let params: RpcParams | undefined;

export async function loadProtocol(): Promise<void> {
  params ??= (await import('../../../contracts/schemas/index.ts')).rpcParams;
}

export function checkParams<M extends RpcMethod>(method: M, given: unknown): ParamsOf<M> {
  const checked = params?.[method].safeParse(given);
  if (checked?.success) return checked.data as ParamsOf<M>;
  const issue = checked?.error.issues[0];
  const place = ['params', ...(issue?.path ?? [])].map(String).join('.').slice(0, 120);
  throw protocolError(`${method}: ${place}: ${issue?.message ?? 'cannot be checked'}`);
}

/** The number that JSON-RPC has for a refusal. */
export function numberOf(error: unknown): number {
  return (isCoxswainError(error) && errorRowOf(error.code)?.rpc?.[error.status]) || RPC_CODES.server;
}

/** @throws CoxswainError `RESOURCE_EXHAUSTED / E_TOO_LARGE` */
export function assertFits(text: string, method: string, maxPayload: number): void {
  // At most three bytes a character.
  if (text.length * 3 <= maxPayload || Buffer.byteLength(text) <= maxPayload) return;
  const message = `the answer to ${method} is larger than the ${maxPayload} bytes that one message may have`;
  throw new CoxswainError('RESOURCE_EXHAUSTED', 'E_TOO_LARGE', message);
}
