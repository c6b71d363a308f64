/** Bounds of one answer of a model, whatever it is asked for. `Infinity`: none. */
export interface AnswerLimits {
  /** Characters of its text. Default 1,000,000. */
  text?: number;
  /** Characters of its thoughts. Default 1,000,000. */
  thoughts?: number;
  /** Characters of the arguments of all its calls together, as JSON. Default 1,000,000. */
  args?: number;
  /** Characters of all else that it brings, as JSON: media, citations, signatures, a provider's own items. Default 50,000,000. */
  other?: number;
  /** Calls. Default 1,000. */
  calls?: number;
  /** Pieces in which it comes. Default 1,000,000. */
  frames?: number;
  /** Minutes from the question to the end. Default 60. */
  minutes?: number;
  /** Minutes without a piece. Default 15. */
  idleMinutes?: number;
}

export const DEFAULT_ANSWER_LIMITS: Readonly<Required<AnswerLimits>> = {
  text: 1_000_000,
  thoughts: 1_000_000,
  args: 1_000_000,
  other: 50_000_000,
  calls: 1_000,
  frames: 1_000_000,
  minutes: 60,
  idleMinutes: 15,
};
