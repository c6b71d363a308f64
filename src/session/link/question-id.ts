/** The call that a question is about, whoever asks it: `<callId>#…`. The id of a call is its own. */
export function callIdOf(requestId: string): string {
  const mark = requestId.lastIndexOf('#');
  return mark < 0 ? requestId : requestId.slice(0, mark);
}

/** A question that a host derives from the log, not the agent's own: numbered when it is asked again. */
export function isHostQuestion(requestId: string): boolean {
  return /#(?:policy|rerun|asked)(?:\.\d+)?$/.test(requestId);
}
