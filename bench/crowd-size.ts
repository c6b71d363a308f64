/** Of the crowd: ours, the floor's and the peer's. */
export const SESSIONS = 2000;
export const DELTAS = 20;
