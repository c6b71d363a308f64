import type { SessionMode, SessionModeState } from '@agentclientprotocol/sdk';
import type { AgentSession, PermissionMode } from '../../../contracts/index.ts';
import { CoxswainError, traitsOfMode } from '../../../contracts/index.ts';
import type { EditorServers } from './editor-servers.ts';
import type { Showing } from './showing.ts';

/** A session that an editor has open, with what was opened for it. */
export class EditorSession {
  readonly session: AgentSession;
  /** USD that its prompts have cost here. */
  readonly spent = { usd: 0 };
  readonly #servers: EditorServers;
  readonly #offered: readonly PermissionMode[];
  #mode: PermissionMode | undefined;
  #isTold = false;

  private constructor(session: AgentSession, servers: EditorServers, offered: readonly PermissionMode[]) {
    this.session = session;
    this.#servers = servers;
    this.#offered = offered;
    this.#mode = offered[0];
  }

  static async of(session: AgentSession, servers: EditorServers, modes: readonly PermissionMode[]) {
    const open = new EditorSession(session, servers, modes);
    if (modes.length > 0) open.#mode = (await session.standing?.())?.permissionMode ?? modes[0];
    return open;
  }

  /** As an answer to the editor has it. */
  get modes(): { modes?: SessionModeState } {
    if (this.#mode === undefined) return {};
    // What a stored session is in is shown, also where it could not be chosen.
    const shown = [...new Set([this.#mode, ...this.#offered])];
    return { modes: { currentModeId: this.#mode, availableModes: shown.map(describe) } };
  }

  /** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for a mode that is not offered */
  async setMode(id: string): Promise<void> {
    const mode = this.#offered.find((offered) => offered === id);
    if (mode === undefined) {
      const offered = this.#offered.length === 0 ? 'none is offered' : `there are: ${this.#offered.join(', ')}`;
      throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', `mode ${JSON.stringify(id.slice(0, 64))}: ${offered}`);
    }
    await this.session.update({ permissionMode: mode });
    this.#mode = mode;
  }

  /** Tells once what a person at the editor would miss. */
  async tell(showing: Showing): Promise<void> {
    const { complaint } = this.#servers;
    if (this.#isTold || complaint === undefined) return;
    this.#isTold = true;
    await showing.say(`${complaint}\n\n`);
  }

  async close(): Promise<void> {
    try {
      await this.session[Symbol.asyncDispose]();
    } finally {
      await this.#servers.close();
    }
  }
}

function describe(id: PermissionMode): SessionMode {
  const traits = traitsOfMode(id);
  return { id, ...(traits ? { name: traits.label, description: traits.description } : { name: id }) };
}
