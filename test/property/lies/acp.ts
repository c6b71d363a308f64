import { fromAcp } from '../../../src/adapters/acp/index.ts';
import type { ReportedRequest, RequestAnswer, Session } from '../../../src/contracts/index.ts';
import type { AgentHost } from '../../../src/host/index.ts';
import type { HostOptions } from '../../../src/index.ts';
import { createHost, InMemorySessionService, rulePolicy } from '../../../src/index.ts';
import type { Random } from '../replay/random.ts';
import { below, randomOf } from '../replay/random.ts';
import { acpLiar } from './acp-liar.ts';
import type { Finding, Tally } from './property.ts';
import { judged } from './property.ts';
import { isBoss, people } from './tools.ts';

// Over the Agent Client Protocol no executor can ask for a tool of its host: what it reaches of the host are its files,
// and leave for what it does itself.

const approvers = { roles: ['boss'] };
const policy = rulePolicy([
  { tool: 'acp:edit', outcome: 'ask', approvers },
  { tool: 'acp:execute', outcome: 'ask', approvers },
  { tool: 'acp:other', outcome: 'allow' },
  { tool: 'acp:read', outcome: 'allow' },
  { tool: 'acp:write_text_file', outcome: 'allow' },
  { tool: 'acp:read_text_file', outcome: 'allow' },
  { tool: '*', outcome: 'deny' },
]);
const boss = people.find(isBoss);
/** Whom policy names no approvers for anybody may let run. */
const anybodys = new Set(['acp:other', 'acp:read', 'acp:write_text_file']);

class AcpLife {
  readonly faults: string[] = [];
  readonly trace: string[] = [];
  readonly #random: Random;
  readonly #liars: Random;
  readonly #tally: Tally;
  /** What people have said yes to in this host, as it was shown to them. */
  #yes: { name: string; shown: string; isUsed: boolean }[] = [];
  /** The words that it was to answer when it did what it had not asked about. */
  readonly #sneaked = new Set<string>();

  constructor(seed: number, tally: Tally) {
    this.#random = randomOf(seed);
    this.#liars = randomOf(~seed);
    this.#tally = tally;
  }

  async live(): Promise<void> {
    const sessions = new InMemorySessionService();
    const lives = 1 + below(this.#random, 2);
    for (let life = 0; life < lives; life++) {
      // A call that waits for a person waits in memory: a yes ends with its host.
      this.#yes = [];
      await this.#oneHost(sessions);
    }
    await sessions.close();
  }

  async #oneHost(sessions: InMemorySessionService): Promise<void> {
    let session: Session | undefined;
    // An agent that waits for one answer may be busy with another: nobody is left without.
    const host = this.#host(sessions, async (question) => {
      if (this.#random() < 0.9) {
        const answer = this.#answer(question);
        if ((answer.by && isBoss(answer.by)) || anybodys.has(question.name ?? '')) return answer;
        // What is asked within a call that runs holds its stream until somebody answers who may.
        await session?.respond(question.requestId, answer).catch((error: unknown) => this.trace.push(`no: ${error}`));
        return { kind: 'deny', ...(boss ? { by: boss } : {}) };
      }
      this.trace.push('it is told to end');
      void session?.abort();
      return undefined;
    });
    try {
      session = await host.open('liar', { sessionId: 's0', create: true, principal: this.#pick(people) });
      const steps = 2 + below(this.#random, 6);
      for (let step = 0; step < steps; step++) {
        this.#tally.cases++;
        await this.#step(session).catch((error: unknown) => this.trace.push(`refused: ${error}`));
      }
    } finally {
      await host.close();
    }
  }

  #host(sessions: InMemorySessionService, onApproval: NonNullable<HostOptions['onApproval']>): AgentHost {
    this.trace.push('a host starts');
    const liar = fromAcp({
      name: 'liar',
      cwd: '/work',
      // It does not listen when it is told to end.
      cancelTimeoutMs: 20,
      connect: acpLiar(this.#liars, {
        trace: (line) => this.trace.push(line),
        allowed: (mark) => this.#allowed(mark),
        sneaked: (words) => {
          this.trace.push(`it does what it has not asked about, told to ${words}`);
          this.#sneaked.add(words);
        },
      }),
      files: {
        readTextFile: async () => {
          this.#tally.runs++;
          return 'text';
        },
        writeTextFile: async ({ path, content }) => this.#written(path, content),
      },
    });
    return createHost({
      app: 'shop',
      agents: [liar],
      store: sessions,
      policy,
      onApproval,
      warn: () => {
        this.#tally.contradictions++;
      },
    });
  }

  async #step(session: Session): Promise<void> {
    let reason = '';
    const words = `go ${this.#tally.cases}`;
    this.trace.push(words);
    for await (const event of session.stream(words)) {
      if (event.type !== 'stream_end') continue;
      reason = event.reason;
      if (reason === 'failed') this.#tally.contradictions++;
    }
    if (this.#sneaked.has(words) && reason === 'completed') this.faults.push('what was not asked about has ended well');
  }

  #answer({ requestId, name = '', args = {} }: ReportedRequest): RequestAnswer {
    const by = this.#pick(people);
    const roll = this.#random();
    this.#tally.answers++;
    this.trace.push(`${by.id} says ${roll < 0.7 ? 'yes' : roll < 0.85 ? 'no' : 'another'} to ${name} ${requestId}`);
    if (roll < 0.7) {
      if (isBoss(by) || anybodys.has(name)) this.#yes.push({ name, shown: JSON.stringify(args), isUsed: false });
      return { kind: 'approve', by };
    }
    if (roll < 0.85) return { kind: 'deny', by };
    const edited = { ...args, path: '/elsewhere' };
    // What the host does itself it does as a person has changed it; what the agent does, not at all.
    if (name === 'acp:write_text_file') this.#yes.push({ name, shown: JSON.stringify(edited), isUsed: false });
    return { kind: 'approve', by, args: edited };
  }

  #allowed(mark: string): void {
    this.#tally.runs++;
    this.trace.push(`it may run ${mark}`);
    const said = this.#yes.find(({ shown, isUsed }) => !isUsed && shown.includes(mark));
    if (said) said.isUsed = true;
    else this.faults.push(`it may run ${mark}, and nobody who may has said yes to that`);
  }

  #written(path: string, content: string): void {
    this.#tally.runs++;
    this.trace.push(`${path} is written`);
    const own = this.#yes.find(
      ({ name, shown, isUsed }) =>
        !isUsed && name === 'acp:write_text_file' && [path, content].every((part) => shown.includes(part)),
    );
    if (own) own.isUsed = true;
    // A call that somebody said yes to has shown the file.
    else if (!this.#yes.some(({ isUsed, shown }) => isUsed && shown.includes(path))) {
      this.faults.push(`${path} was written, and nobody has said yes to that`);
    }
  }

  #pick<T>(items: readonly T[]): T {
    return items[below(this.#random, items.length)] as T;
  }
}

/** An agent of the Agent Client Protocol that lies. */
export function tryAcpSeed(seed: number, tally: Tally): Promise<Finding | undefined> {
  const life = new AcpLife(seed, tally);
  return judged(seed, life, () => life.live());
}
