import { expect } from 'vitest';
import type { CallResult, Question } from './clients.ts';

export const TASKS = 'io.modelcontextprotocol/tasks';

/** What a request answered: a result, or an error of the protocol. */
export interface Answer {
  result?: TaskAnswer;
  error?: { code: number; message: string; data?: unknown };
}

export interface TaskAnswer {
  resultType: string;
  taskId: string;
  status: string;
  statusMessage?: string;
  createdAt: string;
  lastUpdatedAt: string;
  ttlMs: null;
  pollIntervalMs: number;
  inputRequests?: Record<string, { method: string; params: Question }>;
  result?: CallResult;
  error?: { code: number; message: string };
  content?: CallResult['content'];
  [key: string]: unknown;
}

export interface TaskCaller {
  token?: string;
  /** As the client declares them. Default: tasks and forms. */
  capabilities?: object;
  signal?: AbortSignal;
}

let requests = 0;

/** One request of 2026-07-28, as any client would put it: the SDK's own client knows no tasks. */
export async function ask(url: string, method: string, params: object, caller: TaskCaller = {}): Promise<Answer> {
  const { token, capabilities = { elicitation: {}, extensions: { [TASKS]: {} } }, signal } = caller;
  const name =
    'taskId' in params ? params.taskId : 'name' in params ? params.name : 'uri' in params ? params.uri : undefined;
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name === undefined ? {} : { 'mcp-name': String(name) }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: ++requests, method, params: { ...params, _meta } }),
    ...(signal ? { signal } : {}),
  });
  const text = await response.text();
  const data = text.startsWith('{') ? text : (/^data: (\{.*"id":.*\})$/m.exec(text)?.[1] ?? '{}');
  return JSON.parse(data) as Answer;
}

const resultOf = ({ result, error }: Answer): TaskAnswer => {
  expect(error).toBeUndefined();
  if (!result) throw new Error('it has no result');
  return result;
};

export const call = async (url: string, prompt: string, caller?: TaskCaller, more: object = {}) =>
  resultOf(await ask(url, 'tools/call', { name: 'puppet', arguments: { prompt, ...more } }, caller));

/** A call that has become a task. */
export async function task(url: string, prompt: string, caller?: TaskCaller, more?: object): Promise<TaskAnswer> {
  const made = await call(url, prompt, caller, more);
  expect(made).toMatchObject({ resultType: 'task', taskId: expect.any(String) });
  return made;
}

export const get = async (url: string, taskId: string, caller?: TaskCaller) =>
  resultOf(await ask(url, 'tasks/get', { taskId }, caller));

export const cancel = async (url: string, taskId: string, caller?: TaskCaller) =>
  resultOf(await ask(url, 'tasks/cancel', { taskId }, caller));

export const update = async (url: string, taskId: string, inputResponses: object, caller?: TaskCaller) =>
  resultOf(await ask(url, 'tasks/update', { taskId, inputResponses }, caller));

/** The task, once it has this status. */
export async function once(url: string, taskId: string, status: string, caller?: TaskCaller): Promise<TaskAnswer> {
  for (;;) {
    const found = await get(url, taskId, caller);
    if (found.status === status) return found;
    expect(['working', 'input_required']).toContain(found.status);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The same answer to each question of a task. */
export const toAll = ({ inputRequests = {} }: TaskAnswer, decision: string) =>
  Object.fromEntries(Object.keys(inputRequests).map((key) => [key, { action: 'accept', content: { decision } }]));
