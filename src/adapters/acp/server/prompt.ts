import type { AgentContext, ClientCapabilities, PromptResponse } from '@agentclientprotocol/sdk';
import type { AgentSession, ContentPart, Limits, StatusCode, Usage } from '../../../contracts/index.ts';
import { CoxswainError, totalTokens, usageCounts } from '../../../contracts/index.ts';
import { StreamSummary } from '../../../session/index.ts';
import { USAGE_MEMBERS } from '../calls/index.ts';
import { EditorQuestions } from './questions.ts';
import type { Showing } from './showing.ts';

/** What the editor is, and how it is shown what happens. */
export interface EditorClient {
  client: AgentContext;
  capabilities: ClientCapabilities;
  showing: Showing;
}

/** A prompt that is being worked on; it is cancelled once, whoever asks for it. */
export class Prompt {
  readonly #session: AgentSession;
  readonly #controller = new AbortController();
  #cancelled: Promise<void> | undefined;

  constructor(session: AgentSession) {
    this.#session = session;
  }

  /** Fires at a cancel, also between two streams. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Resolves when nothing of it runs or is open any more. */
  cancel(): Promise<void> {
    this.#controller.abort();
    this.#cancelled ??= this.#session.abort({ reason: CANCELLED });
    return this.#cancelled;
  }

  /** Streams follow one another as long as the editor has answers for what is open. */
  async run(content: ContentPart[], { showing, ...editor }: EditorClient, limits?: Limits): Promise<PromptResponse> {
    const session = this.#session;
    const questions = new EditorQuestions(session, editor, showing, this.signal);
    let input: Parameters<AgentSession['stream']>[0] = { kind: 'message', content };
    for (;;) {
      const summary = new StreamSummary();
      for await (const event of session.stream(input, limits ? { limits } : {})) {
        await showing.show(event);
        summary.see(event);
        // What runs may wait for the answer: then the stream does not end before it.
        if (event.type === 'elicitation_request') questions.askBeside(() => this.cancel());
      }
      const asked = summary.reason === 'input_required' ? await questions.ask() : await questions.leave();
      if (asked === 'cancelled' || this.signal.aborted) {
        await this.cancel();
        return { stopReason: 'cancelled', ...usageOf(summary.usage) };
      }
      if (asked === 'nothing') return { stopReason: stopReasonOf(summary), ...usageOf(summary.usage) };
      input = { kind: 'continue' };
    }
  }
}

const CANCELLED = 'the editor has cancelled';

/** Tokens of the turn, where they are known; the protocol has no stable member for them yet, and editors read this one. */
function usageOf(usage: Usage): object {
  if (usage.inputTokens === undefined && usage.outputTokens === undefined) return {};
  const known = usageCounts.flatMap((name) => (usage[name] === undefined ? [] : [[USAGE_MEMBERS[name], usage[name]]]));
  const totals = { inputTokens: 0, outputTokens: 0, totalTokens: totalTokens(usage) };
  return { usage: { ...totals, ...Object.fromEntries(known) } };
}

function stopReasonOf(summary: StreamSummary): PromptResponse['stopReason'] {
  switch (summary.reason) {
    case 'aborted':
      return 'cancelled';
    case 'refusal':
      return 'refusal';
    case 'max_turns':
    case 'max_budget':
    case 'max_time':
      return 'max_turn_requests';
    case 'failed':
      throw failureOf(summary);
    default:
      return summary.truncated ? 'max_tokens' : 'end_turn';
  }
}

function failureOf({ fatal }: StreamSummary): CoxswainError {
  if (!fatal) return new CoxswainError('INTERNAL', 'E_INTERNAL', 'the turn has failed');
  return new CoxswainError(fatal.status as StatusCode, fatal.code as `E_${string}`, fatal.message);
}
