import type { ReportedRequest, Session, SessionInput, SessionSummary } from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../../contracts/index.ts';
import { EXIT, paint } from '../terminal/index.ts';
import { recap } from '../view/index.ts';
import { comeBackLine, hostOptions } from '../workspace/index.ts';
import type { TurnStanding } from './session-state.ts';
import { openSession, turnState } from './session-state.ts';
import type { TurnFrame } from './turn.ts';
import { runStreamOnScreen } from './turn.ts';

/** Sessions among which the newest one of an agent is looked for. */
const LOOKED_AT = 50;

/** The session that somebody talks to, and how it stands. */
export class Conversation {
  readonly frame: TurnFrame;
  session: Session | undefined;
  /** Digests of previews that were shown whole, by the id of their request. */
  readonly shown = new Map<string, string>();
  /** Of what ran last. */
  code: number = EXIT.done;

  constructor(frame: TurnFrame) {
    this.frame = frame;
  }

  /** The session; a new one if there is none yet. */
  async current(): Promise<Session> {
    return this.session ?? (await this.open()).session;
  }

  /** Opens a stored session, or a new one. @throws CoxswainError `NOT_FOUND / E_SESSION_NOT_FOUND | E_AGENT_UNKNOWN` */
  async open(id?: string): Promise<{ session: Session; turn: TurnStanding }> {
    const { work, screen } = this.frame;
    const opened = await openSession(work, id);
    const fate = work.store.durable ? '' : ' (in memory: gone when this command ends)';
    screen.line(paint('dim', `session ${opened.session.id}${fate}`));
    if (id !== undefined && this.frame.isChat) await recap(opened.session, screen);
    this.session = opened.session;
    work.session = opened.session;
    this.code = EXIT.done;
    return opened;
  }

  /**
   * Opens the session of an id, or the newest one of this agent.
   * @throws CoxswainError `NOT_FOUND / E_SESSION_NOT_FOUND | E_AGENT_UNKNOWN`
   */
  async openStored(id: string | undefined): Promise<TurnStanding> {
    if (id !== undefined) return (await this.open(id)).turn;
    for (const session of await this.newest(LOOKED_AT)) {
      try {
        return (await this.open(session.id)).turn;
      } catch (error) {
        if (!isCoxswainError(error) || error.code !== 'E_AGENT_UNKNOWN') throw error;
      }
    }
    const { flags, work } = this.frame;
    const whose = `of user ${flags.user} and agent ${work.agent} in ${work.store.url}`;
    throw new CoxswainError('NOT_FOUND', 'E_SESSION_NOT_FOUND', `--continue: there is no session ${whose}`);
  }

  /** The next message begins a new session. */
  reset(): void {
    this.session = undefined;
    this.frame.work.session = undefined;
    this.code = EXIT.done;
  }

  /** What waits for an answer, oldest first. */
  async openQuestions(): Promise<ReportedRequest[]> {
    return (await this.session?.pending()) ?? [];
  }

  /** Stored sessions of the user, newest first. */
  async newest(limit: number): Promise<readonly SessionSummary[]> {
    const { work, flags } = this.frame;
    return work.store.sessions.list({ app: flags.app, userId: flags.user }, { limit });
  }

  async turn(input: string | SessionInput): Promise<void> {
    this.code = EXIT.failed;
    this.code = await runStreamOnScreen(this.frame, await this.current(), input);
  }

  /** Goes on with whatever the session was in the midst of. */
  async goOn(known?: TurnStanding): Promise<void> {
    const { screen } = this.frame;
    const { session } = this;
    const turn = known ?? (session ? await turnState(session) : 'none');
    const open = await this.openQuestions();
    if (turn === 'none' || (open.length === 0 && (turn === 'completed' || turn === 'refusal'))) {
      screen.line(`nothing to do: ${turn === 'none' ? 'nobody has said anything yet' : 'the last turn is complete'}`);
      return;
    }
    if (open.length > 0) screen.line(`${open.length === 1 ? 'one request is' : `${open.length} requests are`} open`);
    else if (turn === 'open') screen.line('resuming the turn that was cut off');
    else screen.line(`resuming the turn that ended: ${turn}`);
    await this.turn({ kind: 'continue' });
  }

  /** What waits for an answer or was cut off goes on by itself; what somebody has stopped waits for a word. */
  async takeUp(turn: TurnStanding): Promise<void> {
    if (turn === 'open' || (await this.openQuestions()).length > 0) await this.goOn(turn);
    else if (turn !== 'none' && turn !== 'completed' && turn !== 'refusal') {
      this.frame.screen.line(paint('dim', `the last turn ended: ${turn}; /continue resumes it`));
    }
  }

  /** How to come back, if there is something to come back to. */
  farewell(): string | undefined {
    const { path, flags, work } = this.frame;
    if (!this.session || !work.store.durable) return undefined;
    return comeBackLine(path, { session: this.session.id, ...hostOptions(flags) });
  }
}
