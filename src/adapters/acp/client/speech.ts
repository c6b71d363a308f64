import type { ContentBlock } from '@agentclientprotocol/sdk';
import type { DispatchContext, DispatchExecutorHelpers, Media } from '../../../dispatch/index.ts';
import { Message, Thought } from '../../../dispatch/index.ts';
import { newId } from '../../../runtime/index.ts';
import { AnswerCounter, charsOf } from '../../../session/index.ts';
import { mediaOfBlock, textOfBlock } from '../calls/index.ts';

interface Speaking {
  kind: 'message' | 'thought';
  id: string;
  /** The agent's own id of it. */
  theirs: string | null | undefined;
  text: string;
  media: Media[];
}

/** What an agent says: shown as it comes, stored whole, in one order with everything else that is stored. */
export class AcpSpeech {
  readonly #ctx: DispatchContext;
  readonly #helpers: DispatchExecutorHelpers;
  readonly #counter: AnswerCounter;
  #speaking: Speaking | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #failure: { error: unknown } | undefined;

  constructor(ctx: DispatchContext, helpers: DispatchExecutorHelpers) {
    this.#ctx = ctx;
    this.#helpers = helpers;
    this.#counter = new AnswerCounter(ctx.bounds.answerLimits, 'what the agent said to one prompt');
  }

  /**
   * Counts what comes beside words.
   * @throws CoxswainError `RESOURCE_EXHAUSTED / E_ANSWER_LIMIT`
   */
  count(value: unknown): void {
    this.#counter.add([]);
    this.#counter.more('other', charsOf(value));
  }

  /**
   * A call of the agent waits for somebody or runs, until the function that this gives is called.
   * @throws CoxswainError `RESOURCE_EXHAUSTED / E_ANSWER_LIMIT` for too many at once
   */
  begun(): () => void {
    const end = () => this.#counter.more('calls', -1);
    try {
      this.#counter.more('calls', 1);
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  /** @throws CoxswainError `RESOURCE_EXHAUSTED / E_ANSWER_LIMIT` */
  say(kind: Speaking['kind'], block: ContentBlock, theirs: string | null | undefined): void {
    let now = this.#speaking;
    if (now?.kind !== kind || (theirs && now.theirs && theirs !== now.theirs)) {
      this.end();
      now = { kind, id: newId(), theirs, text: '', media: [] };
      this.#speaking = now;
    }
    const text = textOfBlock(block);
    if (text === undefined) {
      this.count(block);
      const media = mediaOfBlock(block);
      if (media) now.media.push(media);
    } else if (text !== '') {
      this.#counter.add([kind === 'message' ? { type: 'text', text } : { type: 'thought', thought: text }]);
      now.text += text;
      if (kind === 'message') this.#helpers.reportMessage(now.id, text);
      else this.#helpers.reportThought(now.id, text);
    }
  }

  /** What was being said is whole. */
  end(): void {
    const said = this.#speaking;
    this.#speaking = undefined;
    if (!said || (said.text === '' && said.media.length === 0)) return;
    const at = Date.now();
    const base = { id: said.id, createdAt: at, updatedAt: at };
    void this.#queue(() => {
      if (said.kind === 'thought') return this.#ctx.storeThought(new Thought({ ...base, content: said.text }));
      const words = said.text === '' ? {} : { content: said.text };
      return this.#ctx.storeMessage(new Message({ ...base, ...words, role: 'assistant', attachments: said.media }));
    });
  }

  /** Stores something behind what was said until now. Never rejects: {@link stored} tells. */
  after(work: () => Promise<void> | void): Promise<unknown> {
    this.end();
    return this.#queue(work);
  }

  /** @throws what could not be stored */
  async stored(): Promise<void> {
    await this.#last;
    if (this.#failure) throw this.#failure.error;
  }

  #queue(work: () => Promise<void> | void): Promise<unknown> {
    this.#last = this.#last.then(work).catch((error: unknown) => {
      this.#failure ??= { error };
    });
    return this.#last;
  }
}
