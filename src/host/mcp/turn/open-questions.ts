import type { ReportedRequest, Session } from '../../../contracts/index.ts';

/** What a person has to answer, rather than a call that somebody runs. */
export const isAsked = ({ approval, kind }: ReportedRequest) => approval !== undefined || kind !== 'tool';

/** What somebody has to answer, or to run: not what was answered, or runs by itself. */
export async function openQuestions(session: Session): Promise<ReportedRequest[]> {
  const pending = await session.pending();
  return pending.filter((request) => {
    const { started, decision, answers = [] } = request;
    if (isAsked(request)) return true;
    return !started && !decision && !answers.some(({ action, quorum }) => action === 'accept' && !quorum);
  });
}
