import { kindOf } from '../../base/index.ts';
import { CoxswainError } from '../../contracts/index.ts';

const validName = /^[A-Za-z_$][\w$-]*$/;

/** @throws CoxswainError `INVALID_ARGUMENT / E_AGENT_NAME` */
export function assertAgentName(name: string): void {
  if (typeof name !== 'string' || !validName.test(name) || name === 'user') {
    throw new CoxswainError(
      'INVALID_ARGUMENT',
      'E_AGENT_NAME',
      `agent name ${typeof name === 'string' ? JSON.stringify(name) : `(${kindOf(name)})`} is not an identifier (letters, digits, _, $, -; not "user")`,
    );
  }
}
