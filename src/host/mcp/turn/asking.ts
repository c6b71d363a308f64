import type { ClientCapabilities, RequestStateCodec, ServerContext } from '@modelcontextprotocol/server';
import { CARD_TYPE } from '../wire/index.ts';
import type { Asking } from './call-frame.ts';
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

/** @param hasCards whether this server has any */
export const modesOf = (capabilities: ClientCapabilities | undefined, hasCards: boolean): AskingModes => ({
  form: canAsk(capabilities),
  url: capabilities?.elicitation?.url !== undefined,
  card: hasCards && showsCards(capabilities),
});

/** As clients of MCP Apps say it. */
export function showsCards(capabilities: ClientCapabilities | undefined): boolean {
  const types = (capabilities?.extensions?.['io.modelcontextprotocol/ui'] as { mimeTypes?: unknown } | undefined)
    ?.mimeTypes;
  return Array.isArray(types) && types.includes(CARD_TYPE);
}

/** 2026: the call ends with the questions and a signed state; the caller calls again with the answers. */
export function byParking(
  codec: RequestStateCodec<ParkedCall>,
  { inputRequired }: Awaited<ReturnType<typeof loadServerSdk>>,
  modes: AskingModes,
): Asking {
  return {
    modes,
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
  modes: AskingModes,
  answerMs: number,
): Asking {
  return {
    modes,
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
