import type { AgentEvent } from '../../contracts/index.ts';
import { textOfParts } from '../../contracts/index.ts';
import { LastWords } from './last-words.ts';

/**
 * What an agent has to say in the end, by the events of its stream: its own last words, or those of its branches where
 * they came last. Agents that are run as tools are not heard: their words are results.
 */
export class AnswerWords {
  /** Of the agent's own words; undefined: the root's. */
  readonly #thread: string | undefined;
  readonly #words = new LastWords();
  /** Branches in the order in which they began: that of the tree. */
  readonly #branches: string[] = [];

  constructor(thread?: string) {
    this.#thread = thread;
  }

  get text(): string {
    return this.#words.text;
  }

  see(event: AgentEvent): void {
    if (event.type === 'custom') {
      if (event.kind !== 'agent_started') return;
      const branch = this.#below(event.threadId);
      if (branch) this.#place(branch);
    } else if (event.type === 'message' && event.role === 'agent' && !event.partial) {
      const branch = this.#below(event.threadId);
      if (branch !== undefined) this.#words.say(branch, textOfParts(event.content), this.#place(branch));
    }
  }

  /** '' for the agent's own thread, `.team.left` for a branch of it, undefined for any other. */
  #below(threadId: string | undefined): string | undefined {
    if (threadId === this.#thread) return '';
    const own = this.#thread ?? '';
    if (threadId === undefined || !threadId.startsWith(own)) return undefined;
    const branch = own === '' ? `.${threadId}` : threadId.slice(own.length);
    return branch.startsWith('.') && !branch.includes('/') ? branch : undefined;
  }

  #place(branch: string): string {
    if (!this.#branches.includes(branch)) this.#branches.push(branch);
    // A branch within another stands where that does.
    const line = this.#branches.filter((other) => other === branch || branch.startsWith(`${other}.`));
    line.sort((a, b) => a.length - b.length);
    return line.map((other) => this.#branches.indexOf(other)).join('/');
  }
}
