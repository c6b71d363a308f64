import type { ModelRequest } from 'coxswain';
import type { Answer } from './conversation.ts';
import { readTurn } from './conversation.ts';
import type { Call, Step } from './plan.ts';
import { explainFailure, GiveUp } from './plan.ts';
import { planFor } from './rules.ts';

export type Move = { calls: Call[] } | { text: string };

/** Rounds of one turn after which something must be wrong. */
const MAX_ROUNDS = 60;

/**
 * What to do next, worked out anew from the history: the plan of each request is run from its start and fed with the
 * answers that are there. The first round without answers is the next move.
 */
export function nextMove({ contents, tools }: Pick<ModelRequest, 'contents' | 'tools'>): Move {
  const { requests, batches } = readTurn(contents);
  if (batches.length > MAX_ROUNDS) return { text: `I stopped after ${MAX_ROUNDS} rounds of tool calls.` };
  const said = new Set<string>();
  for (const request of requests.length > 0 ? requests : ['']) {
    const move = pursue(request, batches, tools);
    if ('calls' in move) return move;
    said.add(move.text);
  }
  return { text: [...said].join('\n\n') };
}

/** Takes the answers that it uses out of `batches`. */
function pursue(request: string, batches: Answer[][], tools: ReadonlyMap<string, unknown>): Move {
  const plan = planFor(request);
  try {
    let next = plan.next();
    while (!next.done) {
      const step = next.value;
      const answers = takeAnswers(batches, step);
      if (answers === undefined) {
        const missing = step.calls.find((call) => !tools.has(call.name));
        if (missing === undefined) return { calls: step.calls };
        return { text: told(step, `That needs the tool ${missing.name}, which I am not given. ${undone(step)}`) };
      }
      const problem = step.tolerant ? undefined : answers.find((answer) => answer.status !== 'ok');
      if (problem !== undefined) return { text: told(step, explainFailure(problem, step)) };
      next = plan.next(answers);
    }
    return { text: next.value };
  } catch (error) {
    if (error instanceof GiveUp) return { text: error.message };
    throw error;
  }
}

/** The next round that has the shape of this step; rounds that another model asked for are passed over. */
function takeAnswers(batches: Answer[][], step: Step): Answer[] | undefined {
  const names = step.calls.map((call) => call.name).join();
  const at = batches.findIndex((batch) => batch.map((answer) => answer.name).join() === names);
  return at < 0 ? undefined : batches.splice(0, at + 1).at(-1);
}

function told(step: Step, text: string): string {
  return [step.sofar, text.trim()].filter((part) => part !== undefined).join('\n\n');
}

function undone(step: Step): string {
  return step.changes === undefined ? '' : `${step.changes} was not written.`;
}
