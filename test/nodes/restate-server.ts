import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../adapters/servers.ts';

const PATIENCE_MS = 60_000;

/** The server's program, which comes with its package; undefined: it is not installed. */
export const restateProgram = (() => {
  const resolve = createRequire(import.meta.url).resolve;
  try {
    const package_ = resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/package.json`);
    resolve('@restatedev/restate-sdk');
    const program = join(dirname(package_), 'bin', 'restate-server');
    return existsSync(program) ? program : undefined;
  } catch {
    return undefined;
  }
})();

/** A Restate server of the test's own, which can be killed and started again on what it has stored. */
export async function restateServer() {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-restate-'));
  const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()];
  let child: ChildProcess | undefined;
  const start = async () => {
    const log = openSync(join(folder, 'log'), 'a');
    child = spawn(restateProgram ?? '', ['--no-logo', '--base-dir', folder], {
      stdio: ['ignore', log, log],
      env: {
        ...process.env,
        RESTATE_BIND_IP: '127.0.0.1',
        RESTATE_LISTEN_MODE: 'tcp',
        RESTATE_INGRESS__BIND_PORT: String(ingress),
        RESTATE_ADMIN__BIND_PORT: String(admin),
        RESTATE_BIND_PORT: String(node),
        RESTATE_DISABLE_TELEMETRY: 'true',
        RESTATE_WORKER__INVOKER__INACTIVITY_TIMEOUT: '1h',
        // A program that is frozen is found by its silence.
        RESTATE_HTTP2_KEEP_ALIVE__INTERVAL: '1s',
        RESTATE_HTTP2_KEEP_ALIVE__TIMEOUT: '1s',
        RESTATE_HTTP_KEEP_ALIVE_OPTIONS__INTERVAL: '1s',
        RESTATE_HTTP_KEEP_ALIVE_OPTIONS__TIMEOUT: '1s',
      },
    });
    for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline; await sleep(50)) {
      const answers = await Promise.all(
        [`http://127.0.0.1:${admin}/health`, `http://127.0.0.1:${ingress}/restate/health`].map((url) =>
          fetch(url).then(
            ({ ok }) => ok,
            () => false,
          ),
        ),
      );
      if (answers.every(Boolean)) return;
    }
    throw new Error(`Restate does not start: see ${folder}/log`);
  };
  const kill = async () => {
    const one = child;
    if (!one || one.exitCode !== null || one.signalCode !== null) return;
    one.kill('SIGKILL');
    await once(one, 'exit');
  };
  await start();
  return {
    url: `http://127.0.0.1:${ingress}`,
    admin: `http://127.0.0.1:${admin}`,
    start,
    kill,
    async close() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
