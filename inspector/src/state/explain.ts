import type { RemoteApprovals } from 'coxswain/client';
import { useEffect, useState } from 'preact/hooks';
import { remote } from './connection.ts';

export type Explained = Awaited<ReturnType<RemoteApprovals['explain']>>;
export interface Place {
  agent: string;
  userId: string;
  sessionId: string;
}

/** Milliseconds without a change after which policy is asked about what is typed. */
const TYPING_MS = 250;

/** What policy says of a call now, or of it with other arguments; `undefined`: it is being asked. */
export function useExplained(
  requestId: string,
  { agent, userId, sessionId }: Place,
  args: Record<string, unknown> | undefined,
  isWanted: boolean,
): { said?: Explained; fault?: string } | undefined {
  const [answer, setAnswer] = useState<{ said?: Explained; fault?: string; of: unknown }>();
  const host = remote.value;
  useEffect(() => {
    if (!host || !isWanted) return;
    let isLeft = false;
    const ask = async () => {
      try {
        const said = await host.approvals.explain(requestId, { agent, userId, sessionId }, args);
        if (!isLeft) setAnswer({ said, of: args });
      } catch (error) {
        if (!isLeft) setAnswer({ fault: error instanceof Error ? error.message : String(error), of: args });
      }
    };
    const timer = setTimeout(() => void ask(), args === undefined ? 0 : TYPING_MS);
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [host, requestId, agent, userId, sessionId, args, isWanted]);
  // An answer about what stood there before is none.
  return answer && answer.of === args && isWanted ? answer : undefined;
}
