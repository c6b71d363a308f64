import type { CalledStream } from '../frame/index.ts';
import type { RunBase } from './run-base.ts';
import type { RunCalls } from './run-calls.ts';
import type { RunQuestions } from './run-questions.ts';

/** A run with the parts that do its work: what these share. */
export interface RunScope extends RunBase {
  /** Its calls that run here; made when first asked for. */
  readonly calls: RunCalls;
  /** The sub-agents of the session, in this stream. */
  readonly called: CalledStream | undefined;
  /** What it asks; made when first asked for. */
  readonly questions: RunQuestions;
}
