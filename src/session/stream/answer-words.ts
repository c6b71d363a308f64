import type { AgentEvent } from '../../contracts/index.ts';
import { textOfParts } from '../../contracts/index.ts';
import { LastWords } from './last-words.ts';

/** Branches whose order is known: those that begin later come last. */
const MOST_BRANCHES = 10_000;
/** Characters of a thread's name, and names in it, as agents nest: a longer one is no branch. */
const MAX_THREAD = 10_000;
const MAX_NESTED = 128;

/**
 * What an agent has to say in the end, by the events of its stream: its own last words, or those of its branches where
 * they came last. Agents that are run as tools are not heard: their words are results.
 */
export class AnswerWords {
  /** Of the agent's own words; undefined: the root's. */
  readonly #thread: string | undefined;
  readonly #words = new LastWords();
  /** Branches in the order in which they began: that of the tree. */
  readonly #branches = new Map<string, number>();

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
    if (threadId === undefined || threadId.length > MAX_THREAD || !threadId.startsWith(own)) return undefined;
    const branch = own === '' ? `.${threadId}` : threadId.slice(own.length);
    return branch.startsWith('.') && !branch.includes('/') ? branch : undefined;
  }

  #place(branch: string): string {
    const { size } = this.#branches;
    if (size < MOST_BRANCHES && !this.#branches.has(branch)) this.#branches.set(branch, size);
    // A branch within another stands where that does.
    const line: number[] = [];
    let end = 0;
    for (let names = 0; end < branch.length && names < MAX_NESTED; names++) {
      const dot = branch.indexOf('.', end + 1);
      end = dot < 0 ? branch.length : dot;
      const at = this.#branches.get(branch.slice(0, end));
      if (at !== undefined) line.push(at);
    }
    if (!this.#branches.has(branch)) line.push(size);
    return line.join('/');
  }
}
