import type { Principal } from '../../../contracts/index.ts';
import { CoxswainError } from '../../../contracts/index.ts';

/** Whether somebody may call a method with these params; what is not `true` is a no. */
export type Authorize = (
  principal: Principal,
  method: string,
  params: Record<string, unknown>,
) => boolean | Promise<boolean>;

/** @throws CoxswainError `PERMISSION_DENIED / E_FORBIDDEN`, also where `authorize` itself fails */
export async function assertAllowed(
  authorize: Authorize,
  principal: Principal,
  method: string,
  params: Record<string, unknown>,
  warn: (message: string, error?: unknown) => void,
): Promise<void> {
  let allowed = false;
  try {
    allowed = (await authorize(principal, method, params)) === true;
  } catch (error) {
    warn('authorize threw; the request is refused', error);
  }
  if (allowed) return;
  throw new CoxswainError('PERMISSION_DENIED', 'E_FORBIDDEN', `${principal.id} may not call ${method}`);
}
