import type { RequestStateCodec, ServerContext } from '@modelcontextprotocol/server';
import type { ReportedRequest, Session } from '../../../contracts/index.ts';
import type { AgentTool } from './agent-tool.ts';
import { bad } from './check-options.ts';
import { loadServerSdk } from './sdk.ts';

/** What a caller holds while a question is open: signed, not secret, and worth nothing to anybody else. */
export interface ParkedCall {
  agent: string;
  sessionId: string;
  turnId: string;
  /** What was asked, and the digest of what was shown with it. */
  asked: { id: string; digest?: string }[];
  /** Of a session that lives in memory only: what it waits under, of this call alone. */
  held?: string;
  /** Yeses so far that came too late, since what they were for had changed. */
  changes?: number;
}

const MIN_KEY = 32;

/** `callerOf`: on whose behalf the request comes. @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for a short key */
export async function parkedCalls(
  key: string | Uint8Array | undefined,
  answerMs: number,
  callerOf: (context: ServerContext) => string,
): Promise<RequestStateCodec<ParkedCall>> {
  if (key !== undefined && Buffer.byteLength(key) < MIN_KEY) {
    throw bad(`stateKey has ${Buffer.byteLength(key)} bytes; a secret of ${MIN_KEY} or more is needed`);
  }
  const { createRequestStateCodec } = await loadServerSdk();
  return createRequestStateCodec<ParkedCall>({
    key: key ?? crypto.getRandomValues(new Uint8Array(32)),
    ttlSeconds: Math.max(1, Math.ceil(answerMs / 1000)),
    bind: (context) => `${context.mcpReq.method}\0${callerOf(context)}`,
  });
}

export function parkedCall(
  tool: AgentTool,
  session: Session,
  turnId: string,
  open: readonly ReportedRequest[],
): ParkedCall {
  return {
    agent: tool.agent.name,
    sessionId: session.id,
    turnId,
    asked: open.map(({ requestId, approval }) => ({
      id: requestId,
      ...(approval ? { digest: approval.previewDigest } : {}),
    })),
  };
}
