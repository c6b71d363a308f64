/** What a server has done since it was started. */
export class Counts {
  turnsBegun = 0;
  /** Ended in `failed`, or broke. */
  turnsFailed = 0;
  /** Refused before anything was stored: a session that is busy, a wrong input, a store that is away. */
  turnsRefused = 0;
  /** Of these, those for which this program had no room. */
  turnsFull = 0;
  /** Sessions that are being closed, also those that the server did not wait for any longer. */
  sessionsClosing = 0;
}
