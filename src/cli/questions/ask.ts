import type { ApprovalQuestion, ReportedRequest, RequestAnswer, Session } from '../../contracts/index.ts';
import { canonicalJson, isCoxswainError } from '../../contracts/index.ts';
import type { Interrupts, Screen } from '../terminal/index.ts';
import { argsLine, clean, errorLine, Keys, paint } from '../terminal/index.ts';
import { ArgsEdit } from './edit-args.ts';
import { answerElicitation } from './elicit.ts';
import { argsWidth, isCut, questionLines } from './preview.ts';

const PREVIEW_LINES = 40;
/** Milliseconds between looks whether somebody else has answered. */
const LOOK_MS = 1000;

const FIXED = 'it runs with the arguments that are shown';
const cancelled: RequestAnswer = { kind: 'elicitation', action: 'cancel' };

interface AskContext {
  signal: AbortSignal;
}

/** Asks a person at the terminal, one question after the other. */
export class Asker {
  readonly #screen: Screen;
  readonly #interrupts: Interrupts;
  readonly #session: () => Session | undefined;
  /** Rules that somebody has said "always" to in this process. */
  readonly #always = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();
  /** Streams that have ended. */
  #ended = 0;
  #takeBack: (() => void) | undefined;

  constructor(screen: Screen, interrupts: Interrupts, session: () => Session | undefined) {
    this.#screen = screen;
    this.#interrupts = interrupts;
    this.#session = session;
  }

  /** For the host's `onApproval`: the answer is given to the session here, so that a refused one can be repeated. */
  readonly approval = (question: ApprovalQuestion, context: AskContext): Promise<undefined> =>
    this.#inTurn(context.signal, question, (session, signal) => this.#approve(session, question, signal));

  /** For the host's `onElicitation`. */
  readonly elicitation = (request: ReportedRequest, context: AskContext): Promise<undefined> =>
    this.#inTurn(context.signal, request, async (session, signal) => {
      const answer = await answerElicitation(request, this.#screen, signal);
      if (answer === 'interrupted') this.#interrupts.press('SIGINT');
      else if (answer) await this.#give(session, request.requestId, answer);
      // What runs waits for this answer alone.
      else if (request.running && !signal.aborted) await this.#give(session, request.requestId, cancelled);
    });

  #inTurn(
    outer: AbortSignal,
    request: ReportedRequest | undefined,
    work: (session: Session, signal: AbortSignal) => Promise<void>,
  ): Promise<undefined> {
    const ended = this.#ended;
    const turn = this.#last.then(async () => {
      const session = this.#session();
      if (!session || outer.aborted || ended !== this.#ended) return;
      const elsewhere = new AbortController();
      this.#takeBack = () => elsewhere.abort();
      const look = request && setInterval(() => void this.#look(session, request.requestId, elsewhere), LOOK_MS);
      this.#screen.hold();
      try {
        await work(session, AbortSignal.any([outer, elsewhere.signal]));
      } finally {
        clearInterval(look);
        this.#takeBack = undefined;
        if (elsewhere.signal.aborted && !outer.aborted) this.#screen.now(`\n${paint('dim', 'answered elsewhere')}\n`);
        this.#screen.release();
      }
    });
    this.#last = turn.catch(() => {});
    return turn.then(() => undefined);
  }

  /**
   * The stream has ended. What is still asked was answered elsewhere, and the run has gone on with it before anybody
   * looked here: what it showed since waits for the question to be gone.
   */
  async asksNoMore(): Promise<void> {
    this.#ended++;
    this.#takeBack?.();
    await this.#last;
  }

  async #look(session: Session, requestId: string, elsewhere: AbortController): Promise<void> {
    const open = await session.pending().catch(() => undefined);
    if (open && !open.some((request) => request.requestId === requestId)) elsewhere.abort();
  }

  async #approve(session: Session, question: ApprovalQuestion, signal: AbortSignal): Promise<void> {
    const { approval, requestId } = question;
    const yes: RequestAnswer = { kind: 'approve', previewDigest: approval.previewDigest };
    if (approval.remember.some((option) => this.#always.has(canonicalJson(option.rule)))) {
      await this.#give(session, requestId, yes);
      return;
    }
    const { cut } = this.#show(question);
    const edit = new ArgsEdit(question.args ?? {});
    for (;;) {
      const key = await this.#key(this.#keysOf(question, cut), signal);
      if (key === undefined) return;
      switch (key.toLowerCase()) {
        case 'y':
          if (await this.#give(session, requestId, yes)) return;
          break;
        case 'n':
          if (await this.#give(session, requestId, { kind: 'deny' })) return;
          break;
        case 'a':
          if (await this.#giveAlways(session, question, yes)) return;
          break;
        case 'e':
          if (await this.#edit(session, question, edit, signal)) return;
          break;
        case 'v':
          this.#print(questionLines(question, { all: true }));
          break;
        case 'l':
        case 'ctrl-d':
          return;
        case 'ctrl-c':
          this.#interrupts.press('SIGINT');
          return;
        default:
          this.#help(question, cut);
      }
    }
  }

  #show(question: ApprovalQuestion): { cut: boolean } {
    const { approval, name = '', args, kind, message } = question;
    const lines = questionLines(question);
    const isRerun = kind === 'rerun_unknown';
    const reason = !isRerun && approval.reason !== undefined ? ` (${clean(approval.reason)})` : '';
    const title = isRerun ? clean(message ?? '') : `${clean(approval.title)}${reason}`;
    this.#print([
      `${paint('yellow', isRerun ? '!' : '?')} ${paint('bold', title)}`,
      ...(isRerun || message === undefined || title.startsWith(clean(message)) ? [] : clean(message).split('\n')),
      paint('dim', `  ${clean(name)} ${argsLine(args, argsWidth(name))}`),
      ...lines.slice(0, PREVIEW_LINES),
    ]);
    const isLong = lines.length > PREVIEW_LINES;
    if (isLong) this.#print([paint('yellow', `  … ${lines.length - PREVIEW_LINES} more lines; v shows all`)]);
    return { cut: isLong || isCut(name, args) };
  }

  #keysOf({ approval, kind }: ApprovalQuestion, cut: boolean): string {
    const isRerun = kind === 'rerun_unknown';
    const keys = isRerun ? ['y run again', 'n do not'] : ['y yes', 'n no'];
    if (!approval.fixedArgs) keys.push('e edit');
    if (approval.remember.length > 0) keys.push('a always');
    if (cut) keys.push('v view all');
    return [...keys, 'l later', '? help'].join(' · ');
  }

  #help({ approval, kind }: ApprovalQuestion, cut: boolean): void {
    const isRerun = kind === 'rerun_unknown';
    this.#print([
      isRerun ? '  y  run it once more' : '  y  run it as shown',
      isRerun ? '  n  do not run it; the agent learns that the outcome is unknown' : '  n  do not run it',
      ...(approval.fixedArgs ? [] : ['  e  change the arguments, then run it; long ones in $VISUAL or $EDITOR']),
      ...(approval.remember[0] ? [`  a  ${clean(approval.remember[0].label)}, until this command ends`] : []),
      ...(cut ? ['  v  show the preview and the arguments whole'] : []),
      '  l  leave it open and stop here (also Ctrl-D)',
      '  Ctrl-C  abort the turn',
    ]);
  }

  async #key(prompt: string, signal: AbortSignal): Promise<string | undefined> {
    const keys = await Keys.open();
    try {
      this.#screen.now(`${paint('dim', `[${prompt}]`)} `);
      if (keys.droppedSome)
        this.#print([paint('dim', '\n  (what was typed before the question is no answer, and was dropped)')]);
      const key = await keys.next(signal);
      if (key !== undefined) this.#screen.now(`${/^[\w?]$/.test(key) ? key : ''}\n`);
      return key;
    } finally {
      keys.close();
    }
  }

  async #giveAlways(session: Session, question: ApprovalQuestion, yes: RequestAnswer): Promise<boolean> {
    const { remember } = question.approval;
    const index = remember.findIndex(({ scope }) => scope === 'session');
    const option = remember[index];
    if (!option) {
      this.#print(['  always is not offered for this call']);
      return false;
    }
    return this.#give(session, question.requestId, { ...yes, remember: index } as RequestAnswer, () =>
      this.#always.add(canonicalJson(option.rule)),
    );
  }

  async #edit(session: Session, question: ApprovalQuestion, edit: ArgsEdit, signal: AbortSignal): Promise<boolean> {
    if (question.approval.fixedArgs) {
      const words = question.kind === 'rerun_unknown' ? 'what has been started can be run again as it was' : FIXED;
      this.#print([`  ${words}, or not at all`]);
      return false;
    }
    const edited = await edit.ask(signal);
    if (edited === undefined || 'fault' in edited) {
      this.#print([edited === undefined ? paint('dim', '  not changed') : `  ${clean(edited.fault)}`]);
      return false;
    }
    const { previewDigest } = question.approval;
    return this.#give(session, question.requestId, { kind: 'approve', previewDigest, args: edited.args });
  }

  /** False: refused, and still open. `taken`: it counts, and nobody was faster. */
  async #give(
    session: Session,
    requestId: string,
    answer: RequestAnswer,
    taken: () => void = () => {},
  ): Promise<boolean> {
    try {
      const { status, by } = await session.respond(requestId, answer);
      if (status === 'settled') taken();
      if (status === 'already_settled')
        this.#print([`  already answered${by === undefined ? '' : ` by ${clean(by)}`}`]);
      if (status === 'waiting_quorum') this.#print(['  noted; others must approve too']);
      return true;
    } catch (error) {
      this.#print([`  ${errorLine(error)}`]);
      // Nothing that is typed here can change it.
      return !isCoxswainError(error) || error.code !== 'E_WRONG_ANSWER';
    }
  }

  #print(lines: string[]): void {
    this.#screen.now(`${lines.join('\n')}\n`);
  }
}
