import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** Passes connections on to one of several ports: those that are well, in turn. */
export async function balancer() {
  const well = new Set<number>();
  const open = new Map<number, Set<Socket>>();
  let turn = 0;
  const server = createServer((socket) => {
    const ports = [...well];
    const port = ports[turn++ % ports.length];
    socket.on('error', () => {});
    if (port === undefined) return void socket.destroy();
    const behind = connect(port, '127.0.0.1');
    const both = [socket, behind];
    const sockets = open.get(port) ?? new Set<Socket>();
    open.set(port, sockets);
    for (const one of both) sockets.add(one);
    const end = () => {
      for (const one of both) {
        one.destroy();
        sockets.delete(one);
      }
    };
    for (const one of both) one.on('error', end).on('close', end);
    socket.pipe(behind).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as { port: number }).port,
    add: (port: number) => void well.add(port),
    /** As a health check would: nobody new is sent there, and who is there is cut off. */
    drop(port: number) {
      well.delete(port);
      for (const socket of open.get(port) ?? []) socket.destroy();
    },
    async close() {
      for (const port of open.keys()) for (const socket of open.get(port) ?? []) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
