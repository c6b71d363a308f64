import { CoxswainError } from '../../../contracts/index.ts';

export type AcpSdk = typeof import('@agentclientprotocol/sdk');

/**
 * Loads the protocol's own package, once it is needed.
 * @throws CoxswainError `FAILED_PRECONDITION / E_UNSUPPORTED` where it is not installed
 */
export async function loadAcpSdk(): Promise<AcpSdk> {
  try {
    return await import('@agentclientprotocol/sdk');
  } catch (cause) {
    throw new CoxswainError(
      'FAILED_PRECONDITION',
      'E_UNSUPPORTED',
      'install the package @agentclientprotocol/sdk to use the Agent Client Protocol',
      { cause },
    );
  }
}
