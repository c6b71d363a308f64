import type { ClientCapabilities, RequestStateCodec, ServerContext } from '@modelcontextprotocol/server';
import type { Asking } from './call.ts';
import type { Reply } from './questions.ts';
import type { ParkedCall } from './request-state.ts';
import type { loadServerSdk } from './sdk.ts';

/** An empty `elicitation` means forms, as it did before there were modes. */
export function canAsk(capabilities: ClientCapabilities | undefined): boolean {
  const elicitation = capabilities?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** 2026: the call ends with the questions and a signed state; the caller calls again with the answers. */
export function byParking(
  codec: RequestStateCodec<ParkedCall>,
  { inputRequired }: Awaited<ReturnType<typeof loadServerSdk>>,
  capabilities: ClientCapabilities | undefined,
): Asking {
  return {
    isPossible: canAsk(capabilities),
    async park(questions, call, context) {
      const entries = questions.map(({ request, form }) => [request.requestId, inputRequired.elicit(form)] as const);
      return inputRequired({
        inputRequests: Object.fromEntries(entries),
        requestState: await codec.mint(call, context),
      });
    },
  };
}

/** 2025: the question goes to the client while the call is open. */
export function byPushing(
  sdk: Awaited<ReturnType<typeof loadServerSdk>>,
  capabilities: ClientCapabilities | undefined,
  answerMs: number,
): Asking {
  return {
    isPossible: canAsk(capabilities),
    async push({ form }, context) {
      try {
        const { action, content } = await elicit(context, form, answerMs);
        return { action, content };
      } catch (error) {
        if (context.mcpReq.signal.aborted) throw error;
        if (error instanceof sdk.SdkError && error.code === sdk.SdkErrorCode.RequestTimeout) {
          return { action: 'decline', reason: 'nobody answered in time' };
        }
        // Whatever it says instead of an answer is none.
        if (error instanceof sdk.ProtocolError || error instanceof sdk.SdkError) return undefined;
        throw error;
      }
    },
  };
}

async function elicit(context: ServerContext, form: object, timeout: number): Promise<Reply> {
  const { signal } = context.mcpReq;
  const params = { mode: 'form', ...form };
  return context.mcpReq.send({ method: 'elicitation/create', params }, { timeout, signal });
}
