/** The server that the suite judges, by hand: `npx node test/mcp/conformance/serve.ts 3000`. */
import { serveMcpHttp } from '../../../src/host/mcp/index.ts';
import { conformanceHost } from './agents.ts';
import { extras } from './extras.ts';
import { tasks } from './task-agents.ts';

export const serveConformance = (port = 0) =>
  serveMcpHttp(conformanceHost(), { port, configure: extras, conversations: false, tasks, warn: () => {} });

if (process.argv[1] === import.meta.filename) {
  const { url } = await serveConformance(Number(process.argv[2] ?? 0));
  process.stdout.write(`${url}\n`);
}
