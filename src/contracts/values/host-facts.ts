/** What only a host says to its executor of an answer or an input: decided, counted as one of several, begun, run again. */
export const HOST_FACTS = ['decision', 'quorum', 'starts', 'rerun'] as const;
