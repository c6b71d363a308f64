import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openSql } from '../../src/adapters/stores/sql/index.ts';
import type { TestDatabase } from '../adapters/databases.ts';
import { answering, find, freePort, initialise, postgres, startServer } from '../adapters/servers.ts';

// A PostgreSQL and a NATS of a test's own, which may be killed, cut off and filled up.

const stopped = async (child: ChildProcess | undefined, signal: NodeJS.Signals) => {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
};

export const canHavePostgres = find(postgres.program) !== undefined;

/** Bytes of the small disk that the tables are on. */
const DISK = 24 * 1024 * 1024;

export async function ownPostgres() {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-faults-'));
  chmodSync(folder, 0o755);
  const place = join(folder, 'data');
  mkdirSync(place);
  initialise(postgres, place);
  const port = await freePort();
  const base = postgres.url(port);
  let server: ChildProcess | undefined;
  const ask = async (sql: string, url = base): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString: url, application_name: 'test', connectionTimeoutMillis: 5000 });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end().catch(() => {});
    }
  };
  const start = async () => {
    server = startServer(postgres, place, port);
    await answering('postgres', () => ask('SELECT 1'));
  };
  await start();
  const disk = join(folder, 'disk');
  const hasDisk = mounted(disk, statSync(place));
  if (hasDisk) await ask(`CREATE TABLESPACE small LOCATION '${disk}'`);
  await ask(`CREATE DATABASE shop${hasDisk ? ' TABLESPACE small' : ''}`);
  const url = base.replace(/\/postgres$/, '/shop');
  // Connections that are cut are replaced: what was asked on one of them fails.
  const pool = new pg.Pool({ connectionString: url, application_name: 'test', max: 4, connectionTimeoutMillis: 5000 });
  pool.on('error', () => {});
  const filler = join(disk, 'filler');
  const database: TestDatabase = {
    name: 'postgres',
    url,
    open: () => openSql(url, { maxConnections: 6 }),
    query: async (sql) => (await pool.query(sql)).rows,
    empty: async () => {},
    drop: async () => {},
  };
  return {
    database,
    hasDisk,
    /** Ends all connections, as a network that breaks or an administrator does. */
    cut: () =>
      ask(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'shop' AND pid <> pg_backend_pid()`),
    /** As an upgrade does it, or as a machine does that loses its power. */
    async restart(signal: 'SIGINT' | 'SIGQUIT') {
      await stopped(server, signal);
      await start();
    },
    /** The disk of the tables is full, until the returned function is called. */
    fill(): () => void {
      const file = openSync(filler, 'w');
      const piece = Buffer.alloc(64 * 1024);
      try {
        for (;;) writeSync(file, piece);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      } finally {
        closeSync(file);
      }
      return () => rmSync(filler);
    },
    /** Nothing can be written, as on a server that has become a replica, until the returned function is called. */
    async freeze(): Promise<() => Promise<void>> {
      await ask('ALTER DATABASE shop SET default_transaction_read_only = on');
      await this.cut();
      return async () => {
        await ask('ALTER DATABASE shop SET default_transaction_read_only = off', base);
        await this.cut();
      };
    },
    async close() {
      await pool.end();
      await stopped(server, 'SIGQUIT');
      if (hasDisk) execFileSync('umount', [disk]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A small disk of its own, where this account may mount one. */
function mounted(disk: string, { uid, gid }: { uid: number; gid: number }): boolean {
  mkdirSync(disk);
  try {
    const options = `size=${DISK},uid=${uid},gid=${gid},mode=700`;
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'none', disk], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export const canHaveNats = find('nats-server') !== undefined;

export async function ownNats() {
  const port = await freePort();
  let server: ChildProcess | undefined;
  const start = async () => {
    server = spawn(find('nats-server') ?? 'nats-server', ['-a', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
    await answering('nats-server', async () => {
      const { connect } = await import('@nats-io/transport-node');
      await (await connect({ servers: `nats://127.0.0.1:${port}`, reconnect: false, timeout: 1000 })).close();
    });
  };
  await start();
  return { url: `nats://127.0.0.1:${port}`, start, kill: () => stopped(server, 'SIGKILL') };
}
