import type { ReportedRequest } from '../../contracts/index.ts';
import type { OpenCallFacts } from '../../gate/index.ts';
import { isRepeatable } from '../../gate/index.ts';
import type { HostTool } from '../tools/index.ts';

/** What a host knows of its own part in a call. */
interface Holder {
  /** It holds the session now. */
  holds(): boolean;
  /** The call was started and is gone on with. */
  goesOn(request: ReportedRequest): boolean;
}

/** What the gate is told of a call, to say what is to be done about it. */
export function openCallFacts(request: ReportedRequest, hostTool: HostTool | undefined, holder: Holder): OpenCallFacts {
  const { started, running, decision } = request;
  const runsHere = hostTool?.tool.execute !== undefined;
  const elsewhere = running && !holder.holds();
  // Of a start without the decision to it, nobody can say that it was let run: what it began is not gone on with.
  const goesOn = started && decision !== undefined && holder.goesOn(request);
  return {
    // Until it has begun, this host decides, whoever has the handler.
    mover: started && !runsHere ? 'elsewhere' : 'here',
    begun: started ? (elsewhere ? 'elsewhere' : 'lost') : undefined,
    isRepeatable: goesOn || (!hasTails(request) && isRepeatable(hostTool?.descriptor.annotations)),
    decision: decision && 'approved',
    isJudgedElsewhere: false,
  };
}

/** Behind it a tail call has begun that may not run twice: what its own tool says of itself does not count any more. */
export function hasTails({ decision }: ReportedRequest): boolean {
  return decision?.tails === true;
}
