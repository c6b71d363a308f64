import type { CallToolResult, InputRequests } from '@modelcontextprotocol/server';
import type { ReportedRequest } from '../../../contracts/index.ts';
import type { ClientQuestion, loadServerSdk, Turn } from '../turn/index.ts';
import { isUrlQuestion } from '../turn/index.ts';

/** Of the extension `io.modelcontextprotocol/tasks`, version 2026-07-28. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'cancelled' | 'failed';

/** A task as it is created. */
export interface TaskSeed {
  taskId: string;
  status: TaskStatus;
  statusMessage?: string;
  createdAt: string;
  lastUpdatedAt: string;
  /** A task is as old as its session becomes. */
  ttlMs: null;
  pollIntervalMs: number;
}

/** A task as `tasks/get` gives it. */
export interface TaskState extends TaskSeed {
  inputRequests?: InputRequests;
  result?: CallToolResult;
  error?: { code: number; message: string };
}

/** Milliseconds between two looks at what works, and at what waits for a person. */
const WORKING_MS = 1_000;
const WAITING_MS = 5_000;

export function taskStateOf(
  taskId: string,
  { begunAt, changedAt }: Turn,
  state: Omit<TaskState, Exclude<keyof TaskSeed, 'status' | 'statusMessage'>>,
): TaskState {
  const createdAt = begunAt ?? new Date(0).toISOString();
  const isWaiting = state.status !== 'working' || state.statusMessage !== undefined;
  return {
    taskId,
    createdAt,
    lastUpdatedAt: changedAt ?? createdAt,
    ttlMs: null,
    pollIntervalMs: isWaiting ? WAITING_MS : WORKING_MS,
    ...state,
  };
}

/** Without what a task is only given by `tasks/get`. */
export function seedOf({ inputRequests: _, result: __, error: ___, ...seed }: TaskState): TaskSeed {
  return seed;
}

/**
 * What a question is called for its answer. What an approval shows is part of the name: once that changes it is another
 * question, and an answer to the former one is none to it.
 */
export function keyOfQuestion({ requestId, approval }: ReportedRequest): string {
  return approval ? `${requestId}:${approval.previewDigest}` : requestId;
}

export function inputRequestsOf(
  questions: readonly ClientQuestion[],
  { inputRequired }: Awaited<ReturnType<typeof loadServerSdk>>,
): InputRequests {
  const entries = questions.map((question) => [
    keyOfQuestion(question.request),
    isUrlQuestion(question) ? inputRequired.elicitUrl(question.address) : inputRequired.elicit(question.form),
  ]);
  return Object.fromEntries(entries) as InputRequests;
}
