type ServerSdk = typeof import('@modelcontextprotocol/server');
type StdioSdk = typeof import('@modelcontextprotocol/server/stdio');
type NodeSdk = typeof import('@modelcontextprotocol/node');

import { CoxswainError } from '../../contracts/index.ts';

/** The official SDK, loaded with the first server. @throws CoxswainError `FAILED_PRECONDITION / E_UNSUPPORTED` */
export const loadServerSdk = (): Promise<ServerSdk> => load(() => import('@modelcontextprotocol/server'));
export const loadStdioSdk = (): Promise<StdioSdk> => load(() => import('@modelcontextprotocol/server/stdio'));
export const loadNodeSdk = (): Promise<NodeSdk> => load(() => import('@modelcontextprotocol/node'));

async function load<T>(importing: () => Promise<T>): Promise<T> {
  try {
    return await importing();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new CoxswainError(
      'FAILED_PRECONDITION',
      'E_UNSUPPORTED',
      'serving over MCP needs two more packages: npm install @modelcontextprotocol/server @modelcontextprotocol/node',
      { cause: error },
    );
  }
}
