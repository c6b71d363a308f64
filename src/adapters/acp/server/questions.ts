import type { AgentContext, ClientCapabilities, PermissionOption, ToolCallContent } from '@agentclientprotocol/sdk';
import type { AgentSession, DisplayContent, ReportedRequest, RequestAnswer } from '../../../contracts/index.ts';
import { isCoxswainError } from '../../../contracts/index.ts';
import { visible } from '../../../session/index.ts';
import type { Showing } from './showing.ts';
import { displayOf, toolCallOf } from './showing.ts';

type Asked = 'answered' | 'cancelled' | 'nothing';

/** Puts what is open in a session to the person at the editor. */
export class EditorQuestions {
  readonly #session: AgentSession;
  readonly #client: AgentContext;
  readonly #capabilities: ClientCapabilities;
  readonly #showing: Showing;
  readonly #signal: AbortSignal;
  /** Asked in this prompt; one that is still open waits for somebody else. */
  readonly #asked = new Set<string>();
  /** Fires when the turn is over: nobody waits for an answer. */
  readonly #over = new AbortController();
  readonly #waits: AbortSignal;
  #beside: Promise<Asked> | undefined;

  constructor(
    session: AgentSession,
    editor: { client: AgentContext; capabilities: ClientCapabilities },
    showing: Showing,
    signal: AbortSignal,
  ) {
    const { client, capabilities } = editor;
    this.#signal = signal;
    this.#waits = AbortSignal.any([signal, this.#over.signal]);
    this.#session = session;
    this.#client = client;
    this.#capabilities = capabilities;
    this.#showing = showing;
  }

  /** Asks one question after the other; `nothing`: what is open waits for others. */
  async ask(): Promise<Asked> {
    const before = await this.#beside;
    this.#beside = undefined;
    // A call that was let run waits for the next stream, not for a person.
    return before === undefined || before === 'nothing' ? this.#ask(() => true) : before;
  }

  /** The same while a stream goes on; `cancel` where the person has cancelled. */
  askBeside(cancel: () => Promise<void>): void {
    this.#beside = this.#after(this.#beside);
    // What fails is told at the end of the stream.
    this.#beside.then((asked) => (asked === 'cancelled' ? cancel() : undefined)).catch(() => {});
  }

  /** The turn is over: what is still asked needs no answer. */
  async leave(): Promise<Asked> {
    this.#over.abort();
    return (await this.#beside) === 'cancelled' ? 'cancelled' : 'nothing';
  }

  async #after(last: Promise<Asked> | undefined): Promise<Asked> {
    const before = (await last) ?? 'nothing';
    if (before === 'cancelled') return before;
    const now = await this.#ask((request) => !isBare(request));
    return now === 'nothing' ? before : now;
  }

  async #ask(concerns: (request: ReportedRequest) => boolean): Promise<Asked> {
    let answered = false;
    const pending = await this.#session.pending();
    const open = pending.filter((request) => !this.#asked.has(request.requestId) && concerns(request));
    for (const request of open) {
      this.#asked.add(request.requestId);
      const answer = await this.#answer(request);
      if (answer === 'cancelled') return answer;
      if (!answer || this.#over.signal.aborted) continue;
      const status = await this.#respond(request, answer);
      if (status === 'waiting_quorum') await this.#showing.say(`${nameOf(request)} waits for somebody else's yes.`);
      else answered = true;
    }
    return answered ? 'answered' : 'nothing';
  }

  /** What was answered elsewhere meanwhile needs no answer any more. */
  async #respond(request: ReportedRequest, answer: RequestAnswer): Promise<string> {
    try {
      return (await this.#session.respond(request.requestId, answer)).status;
    } catch (error) {
      if (!isCoxswainError(error)) throw error;
      if (error.code === 'E_NOT_APPROVER') return 'waiting_quorum';
      if (error.code === 'E_UNKNOWN_REQUEST' || error.code === 'E_REQUEST_CLOSED') return 'already_settled';
      throw error;
    }
  }

  async #answer(request: ReportedRequest): Promise<RequestAnswer | 'cancelled' | undefined> {
    if (isBare(request)) {
      // A tool that whoever drives the session would have to run: an editor cannot.
      return request.handledBy === 'host' ? { kind: 'deny', reason: 'nobody here can run it' } : undefined;
    }
    const { elicitation } = request;
    if (request.approval || elicitation === 'tool_confirmation' || elicitation === 'user_approval') {
      return this.#permission(request);
    }
    if (elicitation === 'rerun_unknown' || request.kind === 'rerun_unknown') return this.#permission(request);
    if (elicitation === 'auth_required') return { kind: 'elicitation', action: 'decline', reason: SECRETS };
    return this.#form(request);
  }

  async #permission(request: ReportedRequest): Promise<RequestAnswer | 'cancelled'> {
    const { approval, callId = request.requestId, args = {} } = request;
    const remember = approval?.remember ?? [];
    const options: PermissionOption[] = [
      { optionId: 'allow', name: 'Allow once', kind: 'allow_once' },
      ...remember.map(({ label }, index) => ({
        optionId: `always:${index}`,
        name: label,
        kind: 'allow_always' as const,
      })),
      { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
    ];
    const preview = previewOf(approval?.preview ?? [], args);
    const toolCall = {
      ...toolCallOf({ requestId: callId, name: nameOf(request), args, kind: this.#showing.kindOf(callId) }),
      title: visible(approval?.title ?? request.message ?? nameOf(request)),
      ...(preview.length === 0 ? {} : { content: preview }),
    };
    const isConfirmation = request.kind !== 'tool' && !approval;
    const yes = (index?: number): RequestAnswer =>
      isConfirmation
        ? { kind: 'elicitation', action: 'accept' }
        : {
            kind: 'approve',
            ...(approval ? { previewDigest: approval.previewDigest } : {}),
            ...(index === undefined ? {} : { remember: index }),
          };
    const no = (reason: string): RequestAnswer =>
      isConfirmation ? { kind: 'elicitation', action: 'decline', reason } : { kind: 'deny', reason };
    let chosen: string;
    try {
      const { outcome } = await this.#client.request(
        'session/request_permission',
        { sessionId: this.#session.id, toolCall, options },
        { cancellationSignal: this.#waits, stopWaitingOnCancel: true },
      );
      // The editor may be of a later version: of an outcome that is not known nobody can say that it is a yes.
      if (outcome?.outcome === 'cancelled') return 'cancelled';
      if (outcome?.outcome !== 'selected') return no('the editor gave no answer');
      chosen = outcome.optionId;
    } catch {
      if (this.#signal.aborted) return 'cancelled';
      // An editor that cannot ask, or has gone, has allowed nothing.
      return no('the editor gave no answer');
    }
    if (chosen === 'allow') return yes();
    const index = remember.findIndex((_, at) => chosen === `always:${at}`);
    if (index >= 0) return yes(index);
    return no('rejected in the editor');
  }

  async #form(request: ReportedRequest): Promise<RequestAnswer | 'cancelled'> {
    const decline: RequestAnswer = { kind: 'elicitation', action: 'decline', reason: 'the editor has no form for it' };
    if (!this.#capabilities.elicitation?.form) return decline;
    try {
      const answer = await this.#client.request(
        'elicitation/create',
        {
          sessionId: this.#session.id,
          mode: 'form',
          message: visible(request.message ?? 'The agent asks'),
          requestedSchema: (request.requestedSchema ?? { type: 'object', properties: {} }) as never,
        },
        { cancellationSignal: this.#waits, stopWaitingOnCancel: true },
      );
      if (answer.action !== 'accept')
        return { kind: 'elicitation', action: answer.action === 'cancel' ? 'cancel' : 'decline' };
      return { kind: 'elicitation', action: 'accept', content: { ...(answer as { content?: object }).content } };
    } catch {
      return this.#signal.aborted ? 'cancelled' : decline;
    }
  }
}

/** A call that nobody is asked about. */
function isBare({ kind, approval }: ReportedRequest): boolean {
  return kind === 'tool' && !approval;
}

/** What a person is shown besides the arguments: those, too, where they hold what nobody sees. */
function previewOf(preview: readonly DisplayContent[], args: object): ToolCallContent[] {
  const whole = JSON.stringify(args, null, 2);
  const shown = visible(whole);
  if (preview.length === 0) return shown === whole ? [] : [textContent(shown)];
  return preview
    .flatMap(displayOf)
    .map((part) =>
      part.type === 'content' && part.content.type === 'text' ? textContent(visible(part.content.text)) : part,
    );
}

const textContent = (text: string): ToolCallContent => ({ type: 'content', content: { type: 'text', text } });

const SECRETS = 'credentials are not asked for in the editor; give them to the host';

function nameOf({ name, message }: ReportedRequest): string {
  return name ?? message ?? 'The request';
}
