/** The small agent on stdio. */
import { appendFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import { smallApp } from './small-app.ts';

const [journal = '', ...flags] = process.argv.slice(2);

smallApp({
  note: (what) => appendFileSync(journal, `${JSON.stringify(what)}\n`),
  flags,
  newId: () => `s-${process.pid}`,
  die: () => process.exit(3),
}).connect(
  ndJsonStream(
    Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
    Readable.toWeb(process.stdin) as unknown as ReadableStream<Uint8Array>,
  ),
);
