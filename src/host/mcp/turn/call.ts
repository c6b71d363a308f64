import type { CallToolResult, InputRequiredResult, ServerContext } from '@modelcontextprotocol/server';
import type { Principal, ReportedRequest, RequestAnswer, Session, SessionInput } from '../../../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../../../contracts/index.ts';
import { nameOfPrincipal } from '../../../session/index.ts';
import type { AgentTool } from './agent-tool.ts';
import type { Answers, CallFrame } from './call-frame.ts';
import { LoggedTurns } from './logged-turns.ts';
import { isAsked, openQuestions } from './open-questions.ts';
import { DEFAULT_ANSWER_MS, DEFAULT_PROGRESS_MS } from './options.ts';
import { Progress } from './progress.ts';
import type { Reply } from './questions.ts';
import { answerOfForm } from './questions.ts';
import { parkedCall } from './request-state.ts';
import { callToolResult, failed, parked } from './result.ts';
import { Turn } from './turn.ts';
import type { ClientQuestion, UrlQuestion } from './url-question.ts';
import { answerOfAddress, clientQuestion, isUrlQuestion } from './url-question.ts';

/** Milliseconds between looks at a session that another process runs. */
const BUSY_MS = 250;
/** Milliseconds that a call which comes back waits for what a page was opened for; then it is asked for again. */
const OPENED_MS = 20_000;
/** A preview that never holds still is no question for a form: its yes never fits. */
const MAX_CHANGES = 3;

/** One call of an agent's tool, from the first word to the result, or to a question. */
export class AgentCall {
  readonly #frame: CallFrame;
  readonly #tool: AgentTool;
  readonly #context: ServerContext;
  /** Who calls, as they were authenticated last: with the call, or with an answer to one of its questions. */
  readonly #caller: () => Principal | undefined;
  readonly #progress: Progress;
  /** It lives in memory only, and waits there for its answer, under this name. */
  #heldAs: string | undefined;
  #turnId: string | undefined;
  #logged: LoggedTurns | undefined;
  /** Yeses that came too late, since what they were for had changed. */
  #changes = 0;

  constructor(frame: CallFrame, tool: AgentTool, context: ServerContext, caller: () => Principal | undefined) {
    this.#frame = frame;
    this.#tool = tool;
    this.#context = context;
    this.#caller = caller;
    this.#progress = new Progress(context, frame.options.progressMs ?? DEFAULT_PROGRESS_MS, frame.warn);
  }

  get #by(): Principal | undefined {
    return this.#caller();
  }

  async run(
    args: Record<string, unknown>,
    answers: Answers | undefined,
  ): Promise<CallToolResult | InputRequiredResult> {
    this.#progress.start();
    let session: Session | undefined;
    try {
      const held = answers?.call.held;
      session =
        (held === undefined ? undefined : this.#frame.held.take(held)) ??
        (await this.#open(answers?.call.sessionId ?? this.#tool.sessionOf(args)));
      if (answers) return await this.#finish(session, await this.#resume(session, answers));
      const isQuestion = this.#tool.asksNothing(args);
      const waits = await this.#stillWaits(session, isQuestion ? STILL_WAITS : NOT_DELIVERED);
      if (waits) return waits;
      if (isQuestion) return await this.#finish(session, await this.#lastTurn(session));
      return await this.#finish(session, await this.#stream(session, this.#tool.messageOf(args)));
    } catch (error) {
      if (this.#context.mcpReq.signal.aborted) throw error;
      if (!isCoxswainError(error)) this.#frame.warn(`a call of ${this.#tool.name} failed`, error);
      // Any other error's text is the host's own: it may hold what is not for callers.
      const words = isCoxswainError(error)
        ? `${error.code}: ${error.message}`
        : 'E_INTERNAL: the host could not continue';
      return failed(words, this.#tool, session, session && (await this.#soFar(session)));
    } finally {
      this.#progress.stop();
      if (session && this.#heldAs !== undefined) this.#frame.held.keep(this.#heldAs, session);
      else await session?.[Symbol.asyncDispose]();
    }
  }

  async #open(sessionId: string | undefined): Promise<Session> {
    const { permissionMode } = this.#frame.options;
    try {
      return await this.#frame.host.open(this.#tool.agent.name, {
        ...(sessionId === undefined ? {} : { sessionId }),
        ...(this.#by ? { principal: this.#by, userId: nameOfPrincipal(this.#by) } : {}),
        ...(permissionMode === undefined ? {} : { permissionMode }),
      });
    } catch (error) {
      if (!isCoxswainError(error) || error.code !== 'E_SESSION_NOT_FOUND') throw error;
      // The host's own words tell programs what to do, not callers.
      const message = `there is no conversation ${sessionId}; leave session_id out to begin a new one`;
      throw new CoxswainError('NOT_FOUND', 'E_SESSION_NOT_FOUND', message);
    }
  }

  /** What the turn had come to when something broke; undefined where the log cannot say. */
  async #soFar(session: Session): Promise<Turn | undefined> {
    try {
      return await this.#log(session).of(this.#turnId);
    } catch (error) {
      this.#frame.warn(`what a call of ${this.#tool.name} has run could not be read`, error);
      return undefined;
    }
  }

  async #stream(session: Session, input: string | SessionInput): Promise<Turn> {
    const turn = new Turn();
    const { limits } = this.#frame.options;
    const { signal } = this.#context.mcpReq;
    for await (const event of session.stream(input, { signal, ...(limits ? { limits } : {}) })) {
      turn.push(event);
      this.#isIn(session, turn.id);
      this.#progress.see(event);
    }
    return turn;
  }

  #isIn(session: Session, turnId: string | undefined): void {
    // Later events may be of sub-agents, which have turns of their own.
    this.#turnId ??= turnId;
    if (this.#turnId !== undefined) this.#frame.watcher.begun(session.id, this.#turnId);
  }

  /** Asks until the turn has ended, or nobody can be asked. */
  async #finish(session: Session, first: Turn): Promise<CallToolResult | InputRequiredResult> {
    let turn = first;
    while (turn.reason === 'input_required') {
      const { asking, options } = this.#frame;
      const open = await openQuestions(session);
      if (open.length === 0) {
        // Settled elsewhere in this moment.
        turn = await this.#goOn(session, this.#turnId);
        continue;
      }
      const asked =
        this.#changes < MAX_CHANGES
          ? open.map((request) => clientQuestion(request, this.#principalOf(request), asking.modes))
          : [`what it would do has changed ${this.#changes} times while it was asked about`];
      const forms = asked.filter((question) => typeof question !== 'string');
      const isPossible = asking.modes.form || asking.modes.url;
      if (isPossible && forms.length > 0 && forms.length === asked.length) {
        if (asking.park) {
          const whose = this.#by ? nameOfPrincipal(this.#by) : '';
          const isKept = this.#tool.agent.capabilities.includes('resume');
          this.#heldAs = isKept ? undefined : this.#frame.held.place(whose);
          const held = this.#heldAs === undefined ? {} : { held: this.#heldAs };
          const turnId = this.#turnId ?? '';
          const call = { ...parkedCall(this.#tool, session, turnId, open), ...held, changes: this.#changes };
          return asking.park(forms, call, this.#context);
        }
        if (await this.#push(session, forms)) {
          turn = await this.#goOn(session, this.#turnId);
          continue;
        }
      }
      const why = isPossible
        ? (asked.find((question) => typeof question === 'string') ?? 'the client could not ask its user')
        : 'the client cannot ask its user';
      // Some may have been answered before one could not be.
      const left = await openQuestions(session);
      if (options.unanswerable === 'deny') await this.#denyAll(session, left, why);
      else if (left.length > 0) {
        this.#frame.watcher.left();
        return this.#parked(session, left, why);
      }
      turn = await this.#goOn(session, this.#turnId);
    }
    this.#context.mcpReq.signal.throwIfAborted();
    return callToolResult(this.#tool, session, turn);
  }

  #principalOf(request: ReportedRequest): Principal {
    return this.#by ?? request.approval?.requestedBy ?? { id: 'local' };
  }

  /** False: a question could not be put to anybody. Each answer is durable before the next question. */
  async #push(session: Session, forms: readonly ClientQuestion[]): Promise<boolean> {
    this.#progress.waits();
    for (const question of forms) {
      const reply = await this.#frame.asking.push?.(question, this.#context).catch(async (error: unknown) => {
        const { aborted, reason } = this.#context.mcpReq.signal;
        // A caller that cancels wants it no more; one that is lost leaves its question to whoever can answer.
        const isLost = (reason as { code?: unknown } | undefined)?.code === 'CONNECTION_CLOSED';
        if (aborted && !(isLost && this.#frame.options.unanswerable !== 'deny')) {
          await session.abort({ reason: isLost ? 'the caller is gone' : 'the caller cancelled' });
        }
        throw error;
      });
      if (!reply) return false;
      if (!(await this.#take(session, question, reply))) return false;
    }
    return true;
  }

  /** False: a page was opened, and what it asks for has not been given in time. */
  async #take(session: Session, question: ClientQuestion, reply: Reply, digest?: string): Promise<boolean> {
    const by = this.#principalOf(question.request);
    if (!isUrlQuestion(question)) {
      await this.#respond(session, question.request, answerOfForm(question, reply, by, digest));
      return true;
    }
    const answer = answerOfAddress(reply, by);
    if (answer) await this.#respond(session, question.request, answer);
    return answer !== undefined || this.#givenElsewhere(session, question);
  }

  /** Waits for whoever has the page that was opened to give what the question asks for. */
  async #givenElsewhere(session: Session, { request }: UrlQuestion): Promise<boolean> {
    const { asking, options } = this.#frame;
    const until = Date.now() + (asking.park ? OPENED_MS : (options.answerMs ?? DEFAULT_ANSWER_MS));
    for (;;) {
      const open = await session.pending();
      if (!open.some(({ requestId }) => requestId === request.requestId)) return true;
      this.#context.mcpReq.signal.throwIfAborted();
      if (Date.now() >= until) return false;
      await new Promise((resolve) => setTimeout(resolve, BUSY_MS));
    }
  }

  async #resume(session: Session, { call, replyTo }: Answers): Promise<Turn> {
    if (call.agent !== this.#tool.agent.name) {
      throw new CoxswainError('FAILED_PRECONDITION', 'E_UNKNOWN_REQUEST', 'the question was asked by another agent');
    }
    this.#isIn(session, call.turnId);
    this.#changes = call.changes ?? 0;
    const open = await openQuestions(session);
    for (const { id, digest } of call.asked) {
      const request = open.find(({ requestId }) => requestId === id);
      const reply = replyTo(id);
      if (!request || !reply) continue;
      const question = clientQuestion(request, this.#principalOf(request), this.#frame.asking.modes);
      // What was not given yet is asked for again.
      if (typeof question !== 'string') await this.#take(session, question, reply, digest);
    }
    return this.#goOn(session, call.turnId);
  }

  async #respond(session: Session, { requestId }: ReportedRequest, answer: RequestAnswer): Promise<void> {
    try {
      await session.respond(requestId, answer);
    } catch (error) {
      // Settled elsewhere meanwhile, or not what was shown any more: then it is asked again.
      if (!isCoxswainError(error) || !moot.has(error.code)) throw error;
      if (error.code === 'E_PREVIEW_CHANGED') this.#changes += 1;
    }
  }

  async #denyAll(session: Session, open: readonly ReportedRequest[], reason: string): Promise<void> {
    for (const request of open) {
      const by = this.#principalOf(request);
      const answer = request.approval
        ? ({ kind: 'deny', reason, by } as const)
        : ({ kind: 'elicitation', action: 'cancel', reason, by } as const);
      try {
        await session.respond(request.requestId, answer);
      } catch (error) {
        if (isCoxswainError(error) && moot.has(error.code)) continue;
        throw error;
      }
    }
  }

  /** Goes on with the turn, or waits for whoever does. */
  async #goOn(session: Session, turnId: string | undefined): Promise<Turn> {
    const { signal } = this.#context.mcpReq;
    for (;;) {
      const known = await this.#ended(session, turnId);
      if (known) return known;
      try {
        return await this.#stream(session, { kind: 'continue' });
      } catch (error) {
        const code = isCoxswainError(error) ? error.code : undefined;
        if (code !== 'E_SESSION_BUSY' && code !== 'E_TURN_COMPLETED') throw error;
      }
      signal.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, BUSY_MS));
    }
  }

  /** Undefined where nothing keeps a new message from being delivered. */
  async #stillWaits(session: Session, why: string): Promise<CallToolResult | undefined> {
    const open = await openQuestions(session);
    if (open.length === 0) return undefined;
    const turn = await this.#log(session).of(open[0]?.turnId);
    // Calls of a turn that is not paused run, or ran until their process died: nobody has to answer them.
    if (turn.reason !== 'input_required' && !open.some(isAsked)) return undefined;
    return parked(this.#tool, session, { turn, open, why, options: this.#frame.options });
  }

  /** What came of the conversation: of its last turn, which goes on first if it has not ended. */
  async #lastTurn(session: Session): Promise<Turn> {
    const last = await this.#log(session).newest();
    if (last !== undefined) {
      this.#isIn(session, last);
      return this.#goOn(session, last);
    }
    const message = 'nothing was asked in this conversation; give what the agent shall do';
    throw new CoxswainError('FAILED_PRECONDITION', 'E_BAD_INPUT', message);
  }

  /** What the log says of a turn that is over; undefined while it is not. */
  async #ended(session: Session, turnId: string | undefined): Promise<Turn | undefined> {
    const turn = await this.#log(session).of(turnId);
    return turn.reason === undefined || turn.reason === 'input_required' ? undefined : turn;
  }

  #log(session: Session): LoggedTurns {
    const whose = this.#by ? nameOfPrincipal(this.#by) : '';
    const name = JSON.stringify([this.#tool.agent.name, whose, session.id]);
    this.#logged ??= new LoggedTurns(session, this.#frame.places, name);
    return this.#logged;
  }

  async #parked(session: Session, open: readonly ReportedRequest[], why: string): Promise<CallToolResult> {
    const turn = await this.#log(session).of(this.#turnId);
    return parked(this.#tool, session, { turn, open, why, options: this.#frame.options });
  }
}

const STILL_WAITS = 'this conversation waits for an answer to an earlier question';
const NOT_DELIVERED = `${STILL_WAITS}, so the new message was not delivered`;

/** Settled elsewhere meanwhile, or not what was shown any more, or not theirs to answer. */
export const moot = new Set<string>(['E_REQUEST_CLOSED', 'E_UNKNOWN_REQUEST', 'E_PREVIEW_CHANGED', 'E_NOT_APPROVER']);
