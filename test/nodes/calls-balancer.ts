import { once } from 'node:events';
import type { ClientHttp2Session, ServerHttp2Session } from 'node:http2';
import { connect, constants, createServer } from 'node:http2';

const { NGHTTP2_INTERNAL_ERROR, NGHTTP2_REFUSED_STREAM } = constants;

/** Passes each HTTP/2 call on to one of several ports in turn, as a balancer before nodes does that Restate calls. */
export async function callsBalancer() {
  const well = new Map<number, ClientHttp2Session | undefined>();
  const sessions = new Set<ServerHttp2Session>();
  let turn = 0;
  const sessionOf = (port: number) => {
    const known = well.get(port);
    if (known && !known.closed && !known.destroyed) return known;
    const session = connect(`http://127.0.0.1:${port}`);
    session.on('error', () => {});
    well.set(port, session);
    return session;
  };
  const server = createServer();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => {}).on('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    const ports = [...well.keys()];
    const port = ports[turn++ % ports.length];
    if (port === undefined) return stream.close(NGHTTP2_REFUSED_STREAM);
    const behind = sessionOf(port).request(headers);
    let isCut = false;
    behind.on('error', () => {});
    behind.on('aborted', () => {
      isCut = true;
    });
    behind.on('response', ({ ':status': status, ...rest }) => {
      if (!stream.destroyed) stream.respond({ ':status': status, ...rest });
    });
    // Of whoever dies in the middle of an answer, what was read ends as if that were all.
    behind.on('close', () => {
      if (stream.closed) return;
      if (!isCut && behind.rstCode === 0 && stream.headersSent) stream.end();
      else stream.close(NGHTTP2_INTERNAL_ERROR);
    });
    stream.on('close', () => {
      if (!behind.closed) behind.close(stream.rstCode);
    });
    stream.pipe(behind).pipe(stream, { end: false });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const drop = (port: number) => {
    well.get(port)?.destroy(undefined, NGHTTP2_INTERNAL_ERROR);
    well.delete(port);
  };
  return {
    address: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    add: (port: number) => void well.set(port, undefined),
    /** As a health check would: nothing new is sent there, and what is under way there is over. */
    drop,
    async close() {
      for (const port of [...well.keys()]) drop(port);
      for (const session of sessions) session.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
