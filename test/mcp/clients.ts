import type { Readable } from 'node:stream';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

/** `v2`: the 2.x client on 2026-07-28; `v2-2025`: the same on 2025-11-25; `v1`: the 1.x client. */
export const kinds = ['v2', 'v2-2025', 'v1'] as const;
export type Kind = (typeof kinds)[number];

export type Target =
  | { url: string; token?: string }
  | { command: string; args: string[]; env?: Record<string, string>; cwd?: string };

export interface ElicitReply {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, string | number | boolean>;
}

export interface Question {
  message: string;
  requestedSchema?: unknown;
  mode?: string;
  url?: string;
}

export interface ClientOptions {
  /** Absent: a client that cannot be asked. */
  onElicit?: (question: Question) => ElicitReply | Promise<ElicitReply>;
  /** Says that it can be asked and has no handler. */
  pretends?: boolean;
  /** How it says that it can be asked. Default: with no modes, which means forms. */
  modes?: { form?: Record<string, never>; url?: Record<string, never> };
  /** 2026 without asking first: one process less. */
  pinned?: boolean;
}

export interface CallOptions {
  signal?: AbortSignal;
  timeout?: number;
  resetTimeoutOnProgress?: boolean;
  onprogress?: (progress: { progress: number; message?: string | undefined }) => void;
}

export interface CallResult {
  content: { type: string; text?: string; [key: string]: unknown }[];
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: Record<string, unknown>;
}

export interface ToolInfo {
  name: string;
  description?: string;
  inputSchema: unknown;
  outputSchema?: unknown;
}

export type Leg = CallResult & {
  resultType?: string;
  requestState?: string;
  inputRequests?: Record<string, { params: Question }>;
};

export interface TestClient extends AsyncDisposable {
  readonly version: string | undefined;
  serverInfo(): { name: string; version: string } | undefined;
  /** 2026 by hand: the result, or the question and the state; with `params` of a second round. */
  leg(name: string, args: Record<string, unknown>, params?: Record<string, unknown>): Promise<Leg>;
  tools(): Promise<ToolInfo[]>;
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<CallResult>;
  /** Everything that the server sends from now on, as text. */
  overhear(): string[];
  /** What the child has printed. */
  stderr(): string;
  close(): Promise<void>;
}

const info = { name: 'test', version: '1.0.0' };

export function connect(kind: Kind, target: Target, options: ClientOptions = {}): Promise<TestClient> {
  return kind === 'v1' ? connectOld(target, options) : connectNew(kind, target, options);
}

function headers(target: { token?: string }) {
  return target.token === undefined ? {} : { requestInit: { headers: { Authorization: `Bearer ${target.token}` } } };
}

async function connectNew(
  kind: Kind,
  target: Target,
  { onElicit, pretends, pinned, modes = {} }: ClientOptions,
): Promise<TestClient> {
  const modern = pinned ? { pin: '2026-07-28' } : 'auto';
  const client = new Client(info, {
    capabilities: onElicit || pretends ? { elicitation: modes } : {},
    versionNegotiation: { mode: kind === 'v2' ? modern : 'legacy' },
  });
  if (onElicit)
    client.setRequestHandler('elicitation/create', async ({ params }) => ({ ...(await onElicit(params as Question)) }));
  const transport =
    'url' in target
      ? new StreamableHTTPClientTransport(new URL(target.url), headers(target))
      : new StdioClientTransport({ ...target, stderr: 'pipe' });
  const stderr = printed(transport);
  await client.connect(transport);
  return {
    overhear: () => overhear(client.transport),
    stderr,
    version: client.getNegotiatedProtocolVersion(),
    serverInfo: () => client.getServerVersion(),
    tools: async () => (await client.listTools()).tools as ToolInfo[],
    leg: async (name, args, params) =>
      (await client.callTool({ name, arguments: args, ...params }, { allowInputRequired: true })) as unknown as Leg,
    call: async (name, args, options) =>
      (await client.callTool({ name, arguments: args }, options as never)) as unknown as CallResult,
    close: () => client.close(),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

async function connectOld(target: Target, { onElicit, pretends }: ClientOptions): Promise<TestClient> {
  const client = new OldClient(info, { capabilities: onElicit || pretends ? { elicitation: {} } : {} });
  if (onElicit)
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({ ...(await onElicit(params as Question)) }));
  const transport =
    'url' in target ? new OldHttp(new URL(target.url), headers(target)) : new OldStdio({ ...target, stderr: 'pipe' });
  const stderr = printed(transport);
  await client.connect(transport as never);
  return {
    overhear: () => overhear(client.transport),
    stderr,
    version: undefined,
    serverInfo: () => client.getServerVersion(),
    tools: async () => (await client.listTools()).tools as ToolInfo[],
    leg: () => Promise.reject(new Error('this client has no such thing')),
    call: async (name, args, options) =>
      (await client.callTool({ name, arguments: args }, undefined, options as never)) as unknown as CallResult,
    close: () => client.close(),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function printed(transport: object): () => string {
  let text = '';
  const { stderr } = transport as { stderr?: Readable | null };
  stderr?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return () => text;
}

function overhear(transport: unknown): string[] {
  const heard: string[] = [];
  const open = transport as { onmessage?: (message: unknown, extra?: unknown) => void };
  const { onmessage } = open;
  open.onmessage = (message, extra) => {
    heard.push(JSON.stringify(message));
    onmessage?.(message, extra);
  };
  return heard;
}

export function textOf({ content }: CallResult): string {
  return content
    .filter(({ type, text }) => type === 'text' && !text?.startsWith('[session_id: '))
    .map(({ text }) => text)
    .join('\n');
}

export function sessionOf(result: CallResult): string {
  return String(result._meta?.['coxswain/sessionId']);
}
