import type { ReportedRequest } from '../../contracts/index.ts';
import { changesAt, hasExpired } from '../../gate/index.ts';
import type { Grounds } from '../tools/index.ts';
import type { Step } from './step.ts';

type Asked = Extract<Step, { kind: 'ask' }>;

/**
 * Questions that wait, as they were judged last. Of many that are open one is answered at a time: the others need not be
 * judged again each time, as long as nothing was said of them and they are judged on the same grounds. An answer is
 * judged by itself, by what policy says then.
 */
export class WaitingQuestions {
  readonly #asked = new WeakMap<ReportedRequest, { step: Asked; grounds: Grounds }>();

  /** Undefined: it is to be judged. */
  of(request: ReportedRequest, grounds: Grounds): Asked | undefined {
    const known = this.#asked.get(request);
    if (!known || !isSame(known.grounds, grounds)) return undefined;
    return hasExpired(changesAt(known.step.question)) ? undefined : known.step;
  }

  keep(request: ReportedRequest, grounds: Grounds, step: Step): void {
    // What can be changed may say something else by now.
    if (step.kind === 'ask' && Object.isFrozen(request)) this.#asked.set(request, { step, grounds });
  }
}

function isSame(before: Grounds, now: Grounds): boolean {
  return (
    before.policy === now.policy &&
    before.principal === now.principal &&
    before.permissionMode === now.permissionMode &&
    before.interactive === now.interactive
  );
}
