import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server, Socket } from 'node:net';
import { afterAll, beforeAll, expect } from 'vitest';

/**
 * Folders of `test` whose files must give back what they take: handles, timers, children, listeners of the process, and
 * whose hosts hold nothing once they are closed.
 */
const WATCHED = /\/test\/(?:websocket|host|mcp|adapters)\//;

/** Milliseconds that what was closed at the end of a file has until it is gone. */
const PATIENCE_MS = 5_000;

interface Taken {
  handles: Set<object>;
  timers: number;
  listeners: Map<string | symbol, number>;
}

function taken(): Taken {
  const listeners = new Map(process.eventNames().map((name) => [name, process.listenerCount(name)]));
  return { handles: new Set(handles()), timers: timers(), listeners };
}

/** What keeps a process alive, the channel to its parent included; its standard streams are made when first asked for. */
function handles(): object[] {
  const all = (process as unknown as { _getActiveHandles(): { fd?: unknown }[] })._getActiveHandles();
  return all.filter(({ fd }) => typeof fd !== 'number' || fd > 2);
}

/** Those that are not let go of with `unref`. */
function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout' || name === 'Immediate').length;
}

/** What is there now and was not before, by name. */
function kept(before: Taken): string[] {
  const found = handles()
    .filter((handle) => !before.handles.has(handle))
    .map(nameOf);
  const more = timers() - before.timers;
  if (more > 0) found.push(`${more} timers`);
  for (const name of process.eventNames()) {
    const added = process.listenerCount(name) - (before.listeners.get(name) ?? 0);
    if (added > 0) found.push(`${added} listeners for ${JSON.stringify(String(name))} of the process`);
  }
  return found;
}

function nameOf(handle: object): string {
  const { spawnfile, pid } = handle as Partial<ChildProcess>;
  if (spawnfile !== undefined) return `child ${pid} (${spawnfile})`;
  const { localPort, remotePort } = handle as Partial<Socket>;
  if (remotePort !== undefined) return `socket from port ${localPort} to port ${remotePort}`;
  const { listening } = handle as Partial<Server>;
  if (listening) return `server on ${JSON.stringify((handle as Server).address())}`;
  return handle.constructor.name;
}

/** What a host says of what it holds. */
const held = Symbol.for('coxswain.held');

interface Host {
  idle(): Promise<void>;
  close(): Promise<void>;
  [held: symbol]: () => Record<string, number>;
}

const hosts: Host[] = [];
const keep = (host: unknown) => void hosts.push(host as Host);

async function inTime(work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, PATIENCE_MS);
  await Promise.race([work.catch(() => {}), promise]);
  clearTimeout(timer);
}

/** What hosts of this file hold though they are closed. */
async function heldByHosts(): Promise<string[]> {
  const found: string[] = [];
  for (const host of hosts.splice(0)) {
    // Some are made to fail: what they hold all the same is the question.
    await inTime(host.close());
    await inTime(host.idle());
    for (const [what, count] of Object.entries(host[held]?.() ?? {})) {
      if (count > 0) found.push(`a closed host holds ${count} ${what}`);
    }
  }
  return found;
}

let before: Taken | undefined;

beforeAll(() => {
  before = WATCHED.test(expect.getState().testPath ?? '') ? taken() : undefined;
  if (before) subscribe('coxswain:host', keep);
});

afterAll(async () => {
  const began = before;
  if (!began) return;
  unsubscribe('coxswain:host', keep);
  const ofHosts = await heldByHosts();
  const deadline = Date.now() + PATIENCE_MS;
  let left = kept(began);
  while (left.length > 0 && Date.now() < deadline) {
    const { promise, resolve } = Promise.withResolvers<void>();
    setTimeout(resolve, 20);
    await promise;
    left = kept(began);
  }
  expect([...left, ...ofHosts], 'taken by this file, and not given back').toEqual([]);
});
