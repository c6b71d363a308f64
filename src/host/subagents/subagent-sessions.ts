import type { ReportedRequest } from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../../contracts/index.ts';
import { LazyMap, LazySet } from '../../session/index.ts';
import type { Handle, Hosted } from '../frame/index.ts';
import type { Subagent } from '../tools/index.ts';
import { callOf } from './subagent-calls.ts';

/** The sessions of the sub-agents that one session has called, by call. */
export class SubagentSessions {
  readonly #caller: Hosted;
  readonly #open = new LazyMap<string, Promise<Handle>>();
  /** Of these, those that are there. */
  readonly #handles = new LazyMap<string, Handle>();
  /** Of these, those that no other handle can open. */
  readonly #passing = new LazySet<string>();
  readonly #requests = new LazyMap<string, ReportedRequest>();
  /** Calls that were started, and whose sessions are gone: what was done in them is not known. */
  readonly #lost = new LazySet<string>();

  constructor(caller: Hosted) {
    this.#caller = caller;
  }

  /** The one that is open here for a call. */
  opened(callId: string): Promise<Handle> | undefined {
    return this.#open.get(callId);
  }

  /** As the host names it, where it keeps it. */
  idOf(request: ReportedRequest): string | undefined {
    const { frame, id } = this.#caller;
    return frame.subagentsId(request, id);
  }

  /** The same, once it is open: one that others are just finding to be gone is none. */
  async running(callId: string): Promise<Handle | undefined> {
    try {
      return await this.opened(callId);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Calls whose sessions were opened here. */
  get requests(): ReportedRequest[] {
    return [...this.#requests.values()];
  }

  /** One that is open here, or below it, waits in memory alone. */
  get holdsInMemory(): boolean {
    if (this.#passing.size > 0) return true;
    for (const { subagents } of this.#handles.values()) if (subagents?.holdsInMemory) return true;
    return false;
  }

  isLost(callId: string): boolean {
    return this.#lost.has(callId);
  }

  /** Its calls end before it begins: they have no sessions to lose. */
  isTooDeep(agent: Subagent): boolean {
    return this.#caller.frame.depth >= agent.maxDepth;
  }

  /** The call has a session again. */
  begun(callId: string): void {
    this.#lost.delete(callId);
  }

  /**
   * Opens the session of a call's sub-agent, or makes it where the call begins: one that is gone is not begun anew unasked.
   * @throws CoxswainError `NOT_FOUND / E_SESSION_NOT_FOUND`
   */
  open(agent: Subagent, request: ReportedRequest, begins = false): Promise<Handle> {
    const callId = callOf(request);
    let child = this.#open.get(callId);
    if (!child) {
      child = this.#opening(agent, request, begins);
      const opening = child;
      if (!agent.descriptor.capabilities.includes('resume')) this.#passing.add(callId);
      child.then(
        (handle) => {
          if (this.#open.get(callId) === opening) this.#handles.set(callId, handle);
        },
        () => this.release(callId),
      );
      this.#requests.set(callId, { ...request, started: true });
      this.#open.set(callId, child);
    }
    return child;
  }

  async #opening(agent: Subagent, request: ReportedRequest, begins: boolean): Promise<Handle> {
    const { frame, id } = this.#caller;
    const callId = callOf(request);
    const isKept = agent.descriptor.capabilities.includes('resume');
    if (isKept && !begins) {
      const known = await this.stored(agent, request);
      if (known) return known;
      if (!this.isTooDeep(agent)) this.#lost.add(callId);
      const message = `the session of agent ${agent.descriptor.name} for call ${callId} is gone`;
      throw new CoxswainError('NOT_FOUND', 'E_SESSION_NOT_FOUND', message);
    }
    return frame.openSubagent(agent, request, id, true);
  }

  /** The same; undefined where it is gone, and a warning where it cannot be opened. */
  async openIfThere(agent: Subagent, request: ReportedRequest): Promise<Handle | undefined> {
    try {
      return await this.open(agent, request);
    } catch (error) {
      // Of a started call somebody is asked about that.
      if (isNotFound(error)) return undefined;
      this.#caller.frame.warn(`the session of sub-agent ${agent.descriptor.name} cannot be opened`, error);
      return undefined;
    }
  }

  /** Another handle of it, to be closed by who asked; undefined where it was never made: its call was denied, or waits. */
  async stored(agent: Subagent, request: ReportedRequest): Promise<Handle | undefined> {
    try {
      return await this.#caller.frame.openSubagent(agent, request, this.#caller.id, false);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** The call is closed: its request is not looked at any more. */
  forget(callId: string): void {
    this.#requests.delete(callId);
  }

  /** The session is given away, to be closed by who asked. */
  release(callId: string): void {
    this.#open.delete(callId);
    this.#handles.delete(callId);
    this.#passing.delete(callId);
  }

  /** Ends the sub-agent of a call that is closed, if it is there. */
  async endStored(agent: Subagent, request: ReportedRequest): Promise<void> {
    const { frame, id } = this.#caller;
    try {
      await using child = await frame.openSubagent(agent, request, id, false);
      await child.abort({ reason: 'its call was closed' });
    } catch (error) {
      // It was never made, or another process sees to it.
      if (isCoxswainError(error) && ['E_SESSION_NOT_FOUND', 'E_SESSION_BUSY'].includes(error.code)) return;
      frame.warn(`sub-agent ${agent.descriptor.name} could not be ended`, error);
    }
  }

  async dispose(): Promise<void> {
    const children = [...this.#open.values()];
    this.#open.clear();
    this.#handles.clear();
    this.#passing.clear();
    for (const child of await Promise.allSettled(children)) {
      if (child.status === 'fulfilled') await child.value[Symbol.asyncDispose]();
    }
  }
}

function isNotFound(error: unknown): boolean {
  return isCoxswainError(error) && error.code === 'E_SESSION_NOT_FOUND';
}
