import type {
  PutQuestion,
  ReportedRequest,
  RunDecisionRecord,
  SessionInput,
  ToolApprovalInput,
} from '../../contracts/index.ts';
import { toPut } from '../../gate/index.ts';
import { breath, eachInPieces, keepsQuestions, MANY, Pace, putQuestions, unreachable } from '../../session/index.ts';
import type { RunStep, Step } from '../questions/index.ts';
import { hasTails, notAgain, notOffered, resultInput } from '../questions/index.ts';
import type { HostTool } from '../tools/index.ts';
import { isUnrecorded } from './call-starts.ts';
import type { RecordStart } from './run-calls.ts';
import type { RunScope } from './run-scope.ts';

/**
 * Looks at each open request of a run and does what can be done about it now. `batch` gets what the next inner stream
 * is to be told, `questions` what waits for somebody. With `record`, starts are stored by themselves.
 */
export async function judgeOpen(
  run: RunScope,
  open: readonly ReportedRequest[],
  batch: SessionInput[],
  questions: ReportedRequest[],
  record?: RecordStart,
): Promise<void> {
  const { frame, subagents } = run.session;
  frame.judge.retain(open);
  run.calls.retain(open);
  const mine: ReportedRequest[] = [];
  for (const request of open) {
    if (run.calls.isBusy(request.callId)) continue;
    const called = subagents?.of(request);
    const below = called && (await called.waitsFor());
    if (below) questions.push(...below);
    else mine.push(request);
  }
  // Looking through many is a piece of work by itself.
  if (open.length > MANY) await breath();
  const { waiting } = run.questions;
  const judging = eachInPieces(mine, (request) => {
    const out = whereExcluded(run, request);
    if (out) return out;
    const grounds = frame.grounds(request);
    const known = waiting.of(request, grounds);
    if (known) return known;
    const signal = run.calls.signalOf(request.callId ?? request.requestId);
    return frame.judge.step(request, frame.toolOf(request), signal).then((step) => {
      waiting.keep(request, grounds, step);
      return step;
    });
  });
  const steps = judging instanceof Promise ? await judging : judging;
  if (steps.some(({ kind }) => kind === 'ask')) await keepPut(run, mine, steps);
  const pace = new Pace();
  for (const [index, judged] of steps.entries()) {
    const rest = pace.rest();
    if (rest) await rest;
    // Nobody is asked, and nothing begins, behind an abort that came meanwhile.
    if (run.signal.aborted) return;
    const request = mine[index] as ReportedRequest;
    const step = isExcludedAgain(run, request, judged) ? notAgain('host', 'the turn excludes the tool') : judged;
    switch (step.kind) {
      case 'run':
        approve(run, request, step, frame.toolOf(request), batch, record);
        break;
      case 'settle':
        frame.judge.settled(request.callId ?? '');
        run.calls.settles(request.callId ?? '');
        batch.push(resultInput(request, await frame.bounded(request.callId, step.result), step.decision));
        break;
      case 'ask':
        questions.push(step.question);
        run.questions.ask(step.question);
        break;
      case 'elicit':
        questions.push(step.request);
        run.questions.elicit(step.request);
        break;
      case 'leave':
        questions.push(request);
        break;
      default:
        unreachable(step, 'the step of a call');
    }
  }
  run.calls.judged(mine);
}

/**
 * A tool that whoever speaks for the turn has left out runs nothing: its executor may ask all the same, or may have
 * asked before. What has begun goes on.
 */
function whereExcluded(run: RunScope, request: ReportedRequest): Step | undefined {
  if (request.kind !== 'tool' || request.started || !isExcluded(run, request)) return undefined;
  return notOffered(request.name ?? '', run.session.frame.grounds(request).principal.id);
}

/** One that began elsewhere and would begin again. */
function isExcludedAgain(run: RunScope, request: ReportedRequest, step: Step): boolean {
  return step.kind === 'run' && step.rerun && isExcluded(run, request) && !run.session.frame.goesOn(request);
}

const isExcluded = ({ options: { excludeTools = [] } }: RunScope, { name = '' }: ReportedRequest): boolean =>
  excludeTools.includes(name);

/** Questions whose terms one stored event has: more of them would hold up others of the process. */
const PUT_AT_ONCE = 2 * MANY;

/** What policy obliges to is kept before anybody sees the question: whoever goes on is held to it. */
async function keepPut(
  { session: { inner } }: RunScope,
  requests: readonly ReportedRequest[],
  steps: readonly Step[],
): Promise<void> {
  if (!keepsQuestions(inner)) return;
  if (steps.length > MANY) await breath();
  let put: PutQuestion[] = [];
  for (const [index, step] of steps.entries()) {
    if (step.kind !== 'ask') continue;
    const terms = toPut(step.question, requests[index] as ReportedRequest, step.hooked);
    if (terms) put.push(terms);
    if (put.length < PUT_AT_ONCE) continue;
    await inner[putQuestions](put);
    await breath();
    put = [];
  }
  if (put.length > 0) await inner[putQuestions](put);
}

/**
 * What a crash could make run twice gets its decision into the log as it starts, and starts when its turn has come; the
 * rest runs when its turn comes.
 */
export function approve(
  run: RunScope,
  request: ReportedRequest,
  step: RunStep,
  tool: HostTool | undefined,
  batch: SessionInput[],
  alone?: RecordStart,
): void {
  const called = run.session.subagents?.of(request);
  if (isUnrecorded(request, tool, called)) {
    run.calls.start(request, step);
    return;
  }
  const { args } = step.decision;
  const { place } = called ?? {};
  const record: RunDecisionRecord = place ? { ...step.decision.record, called: place } : step.decision.record;
  // What has begun behind an earlier start of it is remembered with the next.
  const decision: RunDecisionRecord = hasTails(request) ? { ...record, tailCalls: [] } : record;
  if (request.kind !== 'tool') {
    // The agent has asked whether it may run it again: it is told whose word that is, and decides on no grounds of its own.
    const by = decision.by.startsWith('user:') ? { by: { id: decision.by.slice('user:'.length) } } : {};
    batch.push({ kind: 'tool_approval', requestId: request.requestId, ...(decision.args ? { args } : {}), ...by });
    return;
  }
  const approval: ToolApprovalInput = {
    kind: 'tool_approval',
    requestId: request.requestId,
    ...(decision.args ? { args } : {}),
    decision,
    ...(step.rerun ? { rerun: true } : {}),
  };
  if (request.handledBy !== 'host') batch.push(approval);
  else if (alone) run.calls.start(request, step, () => alone(request, decision));
  else run.calls.enqueue(request, step, approval);
}
