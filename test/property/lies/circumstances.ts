import { tryAcpSeed } from './acp.ts';
import type { TrySeed } from './property.ts';
import { lying } from './property.ts';
import { inProcess, overStdio, overWebSocket } from './wires.ts';

/** All under which the property holds. */
export const circumstances: Readonly<Record<string, TrySeed>> = {
  'in this process': lying({ wire: inProcess }),
  'over WebSocket': lying({ wire: overWebSocket }),
  'over stdio': lying({ wire: overStdio }),
  'over the Agent Client Protocol': tryAcpSeed,
  'to a host that dies and is started again over its store': lying({ wire: inProcess, keeps: true }),
  'over WebSocket to a host that dies and is started again over its store': lying({ wire: overWebSocket, keeps: true }),
  'to two hosts over one store': lying({ wire: inProcess, keeps: true, hosts: 2 }),
};
