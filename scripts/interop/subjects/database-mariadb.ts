import mysql2 from 'mysql2/promise';
import { tryStore } from '../store-trial.ts';
import { subject } from '../subject.ts';

/** The server of this machine, as the tests find it: none is in the registry. */
const address = process.env.COXSWAIN_TEST_MYSQL ?? 'mysql://root@127.0.0.1:3306/test';

export default subject({
  name: 'MariaDB of the machine',
  role: 'database',
  packages: {},
  async run(trial) {
    const name = `coxswain_interop_${process.pid}`;
    const admin = await mysql2.createConnection(address);
    try {
      await admin.query(`CREATE DATABASE ${name}`);
      await trial.check('answers', async () => {
        const [rows] = await admin.query('SELECT VERSION() AS version');
        return String((rows as { version: unknown }[])[0]?.version);
      });
      const url = new URL(address);
      url.pathname = `/${name}`;
      await tryStore(trial, url.href);
    } finally {
      await admin.query(`DROP DATABASE IF EXISTS ${name}`);
      await admin.end();
    }
  },
});
