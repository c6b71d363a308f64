import type { ToolAnnotations } from '../../../src/contracts/index.ts';

/** Milliseconds between two looks of a process for what others do. */
export const LOOK_MS = 15;

/** Tools of the host, by name; the agent has the same of its own, as `own_…`. */
export const KINDS: Record<string, ToolAnnotations> = {
  pay: {},
  put: { idempotent: true },
  look: { readOnly: true },
  alone: { exclusive: true },
  job: { longRunning: true },
  ask: {},
};

export interface Task {
  n: number;
  session: string;
  what: 'message' | 'continue' | 'steer' | 'yes' | 'no' | 'decide' | 'abort' | 'finish' | 'events';
  words?: string;
  pick?: number;
}

export interface Said {
  n?: number;
  ok?: string;
  /** Code of an error, or its text. */
  refused?: string;
  answered?: { requestId: string; isYes: boolean; isFirst: boolean } | undefined;
  /** Id of a stored event. */
  shown?: string;
  session?: string;
}

/** `do pay:10,put:3 look:5`: calls of one step after the other, each with the milliseconds that it takes. */
export function stepsIn(words: string): [name: string, ms: number][][] {
  return words
    .split(' ')
    .slice(1)
    .map((step) =>
      step.split(',').map((call): [string, number] => {
        const [name = '', ms] = call.split(':');
        return [name, Number(ms)];
      }),
    );
}

export function plain(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return String(code ?? message);
}
