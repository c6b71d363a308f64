/** What a frame is, as far as it matters here: anything that came over a wire may be one. */
type Frame = object;

/** Of one answer, beside what it repeats of its request: as much as it takes in memory until it has left. */
const ANSWER = 1024;
/** A thousand short answers. */
const MOST = 1000 * ANSWER;

/**
 * Answers that are owed over a connection of JSON-RPC: to requests that have come, until the answer has left. Whoever asks and
 * does not take the answers has them pile up with the one who answers.
 */
export class OwedAnswers {
  /** By id, as JSON: one may come twice. */
  readonly #owed = new Map<string, number[]>();
  #weight = 0;

  /** As much is owed as some thousand requests ask for. */
  get areTooMany(): boolean {
    return this.#weight > MOST;
  }

  /** A frame has come. */
  asked(frame: Frame): void {
    const weight = weightOf(frame);
    if (weight === 0) return;
    const id = nameOf(frame);
    const known = this.#owed.get(id);
    if (known) known.push(weight);
    else this.#owed.set(id, [weight]);
    this.#weight += weight;
  }

  /** A frame has left. */
  answered(frame: Frame): void {
    if ('method' in frame) return;
    const id = nameOf(frame);
    const known = this.#owed.get(id);
    this.#weight -= known?.shift() ?? 0;
    if (known?.length === 0) this.#owed.delete(id);
  }
}

/** 0: nobody answers it. What is no message is answered, too, and the answer repeats it. */
function weightOf(frame: Frame): number {
  const { id, method } = frame as { id?: unknown; method?: unknown };
  if (typeof method === 'string') {
    if (!('id' in frame)) return 0;
    return ANSWER + 2 * method.length + (typeof id === 'string' ? id.length : 0);
  }
  if ('id' in frame && ('result' in frame || 'error' in frame)) return 0;
  return ANSWER + JSON.stringify(frame).length;
}

/** What has an id of no kind is answered without one. */
function nameOf({ id }: { id?: unknown }): string {
  return typeof id === 'string' || typeof id === 'number' ? JSON.stringify(id) : 'null';
}
