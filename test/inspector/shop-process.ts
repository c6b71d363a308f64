/** A shop as a program of its own: what is asked of it comes over the channel of its parent. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { askIn, openShop } from './shop.ts';

const [folder = '', files = '', port = '0'] = process.argv.slice(2);
const { host, server } = await openShop({
  folder,
  files,
  port: Number(port),
  ran: (_, args) => appendFileSync(join(folder, 'runs'), `${(args as { order?: number }).order}\n`),
  opened: Promise.resolve(),
  serve: {},
});
process.on('message', async ({ id, act, args }: { id: number; act: 'ask' | 'open'; args: never }) => {
  const value =
    act === 'ask'
      ? await askIn(host, ...(args as [string, string, string, object]))
      : (await host.approvals.list()).map(({ request }) => request.args?.order);
  process.send?.({ id, value });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port: server.port });
