import type { HookContext, Principal, SessionInput, SteerData } from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError, messageOf } from '../../contracts/index.ts';
import { fireHook, frozenPrincipal } from '../../gate/index.ts';
import type { Hosted } from '../frame/index.ts';
import { supports } from '../tools/index.ts';

/**
 * The on_user_message hook may replace what a person said, or refuse it. One that fails refuses it too.
 * @throws CoxswainError `PERMISSION_DENIED / E_HOOK_BLOCKED`, `INTERNAL / E_HOOK_FAILED`
 */
export async function passUserMessages(
  session: Hosted,
  inputs: SessionInput[],
  principal: Principal,
  signal: AbortSignal | undefined,
): Promise<SessionInput[]> {
  const { hooks, hookTimeoutMs: timeoutMs } = session.frame.options;
  if (!hooks || !supports(hooks, 'on_user_message')) return inputs;
  return Promise.all(
    inputs.map(async (input) => {
      if (input.kind !== 'message') return input;
      const parts =
        typeof input.content === 'string' ? [{ type: 'text' as const, text: input.content }] : input.content;
      const context: HookContext = {
        sessionId: session.id,
        sessionUid: session.frame.sessionUid,
        userId: session.frame.userId,
        principal: frozenPrincipal(principal),
        agentPath: [session.descriptor.name],
        ...(signal ? { signal } : {}),
      };
      const payload = { userMessage: { role: 'user', parts }, context };
      const answer = await failClosed(() => fireHook(hooks, 'on_user_message', payload, { signal, timeoutMs }));
      if (answer?.action === 'block') {
        throw new CoxswainError('PERMISSION_DENIED', 'E_HOOK_BLOCKED', answer.reason ?? 'a hook refused the message');
      }
      const replacement = answer?.modifications?.replacement;
      if (replacement === undefined || replacement === null) return input;
      const { parts: others } = Object(replacement) as { parts?: unknown };
      const content = typeof replacement === 'string' ? replacement : others;
      if (typeof content === 'string' || Array.isArray(content)) return { ...input, content };
      const message = 'an on_user_message hook failed: its replacement is neither text nor content with parts';
      throw new CoxswainError('INTERNAL', 'E_HOOK_FAILED', message);
    }),
  );
}

/** Words that are added to a turn are a person's like those that begin one. */
export async function passSteer(session: Hosted, data: SteerData, who = session.frame.principal): Promise<SteerData> {
  const words: SessionInput = { kind: 'message', content: data.content };
  const [passed] = await passUserMessages(session, [words], who, undefined);
  return passed?.kind === 'message' ? { ...data, content: passed.content } : data;
}

/** A hook that must not be skipped by failing. */
async function failClosed<T>(hook: () => Promise<T>): Promise<T> {
  try {
    return await hook();
  } catch (error) {
    if (isCoxswainError(error)) throw error;
    const message = `an on_user_message hook failed: ${messageOf(error)}`;
    throw new CoxswainError('INTERNAL', 'E_HOOK_FAILED', message, { cause: error });
  }
}
