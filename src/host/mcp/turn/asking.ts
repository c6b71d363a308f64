import type { ClientCapabilities, RequestStateCodec, ServerContext } from '@modelcontextprotocol/server';
import type { Asking } from './call.ts';
import type { Reply } from './questions.ts';
import type { ParkedCall } from './request-state.ts';
import type { loadServerSdk } from './sdk.ts';
import type { AskingModes } from './url-question.ts';
import { isUrlQuestion } from './url-question.ts';

/** An empty `elicitation` means forms, as it did before there were modes. */
export function canAsk(capabilities: ClientCapabilities | undefined): boolean {
  const elicitation = capabilities?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

const modesOf = (capabilities: ClientCapabilities | undefined): AskingModes => ({
  form: canAsk(capabilities),
  url: capabilities?.elicitation?.url !== undefined,
});

/** 2026: the call ends with the questions and a signed state; the caller calls again with the answers. */
export function byParking(
  codec: RequestStateCodec<ParkedCall>,
  { inputRequired }: Awaited<ReturnType<typeof loadServerSdk>>,
  capabilities: ClientCapabilities | undefined,
): Asking {
  return {
    modes: modesOf(capabilities),
    async park(questions, call, context) {
      const entries = questions.map(
        (question) =>
          [
            question.request.requestId,
            isUrlQuestion(question) ? inputRequired.elicitUrl(question.address) : inputRequired.elicit(question.form),
          ] as const,
      );
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
    modes: modesOf(capabilities),
    async push(question, context) {
      try {
        const asked = isUrlQuestion(question)
          ? { mode: 'url', elicitationId: crypto.randomUUID(), ...question.address }
          : { mode: 'form', ...question.form };
        const { action, content } = await elicit(context, asked, answerMs);
        return { action, content };
      } catch (error) {
        if (context.mcpReq.signal.aborted) throw error;
        if (error instanceof sdk.SdkError && error.code === sdk.SdkErrorCode.RequestTimeout) {
          // A page stays where it is: what it asks for may be given later.
          return isUrlQuestion(question) ? undefined : { action: 'decline', reason: 'nobody answered in time' };
        }
        // Whatever it says instead of an answer is none.
        if (error instanceof sdk.ProtocolError || error instanceof sdk.SdkError) return undefined;
        throw error;
      }
    },
  };
}

async function elicit(context: ServerContext, params: Record<string, unknown>, timeout: number): Promise<Reply> {
  const { signal } = context.mcpReq;
  return context.mcpReq.send({ method: 'elicitation/create', params }, { timeout, signal });
}
