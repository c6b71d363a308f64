type ServerSdk = typeof import('@modelcontextprotocol/server');
type StdioSdk = typeof import('@modelcontextprotocol/server/stdio');
type NodeSdk = typeof import('@modelcontextprotocol/node');

import { CoxswainError, messageOf } from '../../../contracts/index.ts';

/** The official SDK, loaded with the first server. @throws CoxswainError `FAILED_PRECONDITION / E_UNSUPPORTED` */
export async function loadServerSdk(): Promise<ServerSdk> {
  try {
    return await import('@modelcontextprotocol/server');
  } catch (error) {
    throw orAbsence(error);
  }
}

export async function loadStdioSdk(): Promise<StdioSdk> {
  try {
    return await import('@modelcontextprotocol/server/stdio');
  } catch (error) {
    throw orAbsence(error);
  }
}

export async function loadNodeSdk(): Promise<NodeSdk> {
  try {
    return await import('@modelcontextprotocol/node');
  } catch (error) {
    throw orAbsence(error);
  }
}

/**
 * What to throw. Each `import()` stands in the very `try`: bundlers leave out a package that is not there only where they
 * see that its absence is caught.
 */
function orAbsence(error: unknown): unknown {
  if (!absent.test(messageOf(error))) return error;
  return new CoxswainError(
    'FAILED_PRECONDITION',
    'E_UNSUPPORTED',
    'serving over MCP needs two more packages: npm install @modelcontextprotocol/server @modelcontextprotocol/node',
    { cause: error },
  );
}

/** As Node says it, and as what bundlers put in the place of such a package does. */
const absent = /^(Cannot find (module|package)|Could not resolve) /;
