import type {
  Agent,
  AgentContext,
  ChildOptions,
  LlmAgentOptions,
  Outcome,
  StoredEvent,
} from '../../../src/runtime/index.ts';
import { AgentContext as Context, DONE, isPlainDone, LlmAgent, SequentialAgent } from '../../../src/runtime/index.ts';
import type { Trial } from './live.ts';
import { soundParts } from './tree.ts';

/** Starts the next child although the last one waits for somebody. */
class HastySequential extends SequentialAgent {
  protected override async runChildren(context: AgentContext): Promise<Outcome> {
    let waits: Outcome | undefined;
    for (const child of this.subAgents) {
      const outcome = await context.run(child);
      if (outcome.kind === 'suspended') waits = outcome;
      else if (!isPlainDone(outcome)) return outcome;
    }
    return waits ?? DONE;
  }
}

/** Knows what its tools asked for (escalate, transfer) only if they ran while it was there: no event says so. */
class ForgetfulAgent extends LlmAgent {
  readonly #seen = new Set<string>();

  override async run(context: AgentContext): Promise<Outcome> {
    const { batch } = context.activation;
    if (batch.length === 0 || batch.some((call) => !call.settled)) this.#seen.add(context.path);
    const outcome = await super.run(context);
    return outcome.kind === 'done' && !this.#seen.has(context.path) ? DONE : outcome;
  }
}

/** Counts its children instead of naming them by the call that asked for them. */
class OrdinalContext extends Context {
  override run(child: Agent, options: ChildOptions = {}): Promise<Outcome> {
    const { key: _, ...rest } = options;
    return super.run(child, rest);
  }
}

class CountingAgent extends LlmAgent {
  override run(context: AgentContext): Promise<Outcome> {
    return super.run(new OrdinalContext(context.invocation, context.agent, context.place));
  }
}

/** A store that loses the note that a handler was started. */
function withoutStarts(events: readonly StoredEvent[]): readonly StoredEvent[] {
  return events.map((event) => {
    const { started: _, ...actions } = event.actions;
    return { ...event, actions };
  });
}

export interface Mutant {
  name: string;
  trial: Trial;
  /** What it is found out by. */
  sign: RegExp;
}

const withLlm = (make: (options: LlmAgentOptions) => Agent): Trial => ({ parts: { ...soundParts, llm: make } });

/** Ways of getting replay wrong. Each breaks one rule and leaves the rest alone. */
export const mutants: readonly Mutant[] = [
  {
    name: 'a Sequential that ignores suspension',
    trial: { parts: { ...soundParts, sequential: (options) => new HastySequential(options) } },
    sign: /began before its predecessor ended/,
  },
  {
    name: 'a started tool that is run again unasked',
    trial: { parts: soundParts, writes: withoutStarts },
    // A sub-agent that was not started is not gone on with.
    sign: /^effect .* ran \d+ times|^(?:ask_)?(?:helper|crowd) .* dangles$|the log does not show the start/,
  },
  {
    name: 'a flag that is kept outside the fold',
    trial: withLlm((options) => new ForgetfulAgent(options)),
    sign: /^model answers: /,
  },
  {
    name: 'an agent as a tool that is keyed by an ordinal',
    trial: withLlm((options) => new CountingAgent(options)),
    sign: / dangles$/,
  },
];
