import type { Circumstances } from './property.ts';
import { inProcess, overStdio, overWebSocket } from './wires.ts';

/** All under which the property holds. */
export const circumstances = {
  'in this process': { wire: inProcess },
  'over WebSocket': { wire: overWebSocket },
  'over stdio': { wire: overStdio },
  'to a host that dies and is started again over its store': { wire: inProcess, keeps: true },
  'over WebSocket to a host that dies and is started again over its store': { wire: overWebSocket, keeps: true },
  'to two hosts over one store': { wire: inProcess, keeps: true, hosts: 2 },
} satisfies Record<string, Circumstances>;
