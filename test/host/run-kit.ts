import type { AgentEvent, ReportedRequest } from '../../src/contracts/index.ts';
import { RunTimeQuestions } from '../../src/host/questions/run-time-questions.ts';
import { RunQuestions } from '../../src/host/run/run-questions.ts';
import type { RunScope } from '../../src/host/run/run-scope.ts';
import type { HostOptions } from '../../src/host/terms/options.ts';

/** What the parts of a run are given, with what they do to it. */
export interface FakeRun {
  run: RunScope;
  shown: AgentEvent[];
  warnings: unknown[][];
  announced: string[];
  answers: unknown[][];
  abort(reason?: unknown): void;
  readonly wakes: number;
}

interface Given {
  options?: Partial<HostOptions>;
  inner?: object;
  frame?: object;
  /** The sub-agent of a call. */
  subagents?: (request: ReportedRequest) => object | undefined;
  /** The sub-agents in this stream. */
  called?: object;
  session?: object;
  run?: object;
}

/** The parts of a run around one that is tried: a session over `inner`, and a stream that is begun. */
export function fakeRun({
  options = {},
  inner = {},
  frame = {},
  subagents,
  called,
  session = {},
  run = {},
}: Given = {}): FakeRun {
  const shown: AgentEvent[] = [];
  const warnings: unknown[][] = [];
  const announced: string[] = [];
  const answers: unknown[][] = [];
  const controller = new AbortController();
  const count = { wakes: 0 };
  const scope = {
    options: { streamId: 'x' },
    signal: controller.signal,
    span: undefined,
    accepted: true,
    hasFailed: false,
    offers: () => true,
    push: (event: AgentEvent) => void shown.push(event),
    wake: () => void count.wakes++,
    woken: async () => {},
    below: {},
    called: called && { hasAsked: () => false, settled: async () => {}, release: () => {}, ...called },
    session: {
      id: 's',
      descriptor: { name: 'bot' },
      introducedBy: 'agent',
      inner: { pending: async () => [], ...inner },
      subagents: subagents && { of: subagents },
      respond: async (...given: unknown[]) => {
        answers.push(given);
        return { status: 'settled' };
      },
      pending: async () => [],
      frame: {
        options,
        name: 'u/s',
        principal: { id: 'ann' },
        runTimeQuestions: new RunTimeQuestions(),
        grounds: () => ({ interactive: true }),
        announce: ({ requestId }: ReportedRequest) => void announced.push(requestId),
        warn: (...said: unknown[]) => void warnings.push(said),
        hasSubagents: false,
        toolOf: () => undefined,
        judge: { obliges: async () => ({}) },
        ...frame,
      },
      ...session,
    },
    ...run,
  } as unknown as RunScope & { questions: RunQuestions };
  Object.defineProperty(scope, 'questions', { value: new RunQuestions(scope) });
  return {
    run: scope,
    shown,
    warnings,
    announced,
    answers,
    abort: (reason) => controller.abort(reason),
    get wakes() {
      return count.wakes;
    },
  };
}

/** Lets everything that is ready go on. */
export const settle = () => new Promise((resolve) => setImmediate(resolve));
