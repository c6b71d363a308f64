import type { SessionInput } from '../contracts/index.ts';
import { CoxswainError, isCoxswainError, messageOf } from '../contracts/index.ts';
import type { HostedSession } from './hosted-session.ts';
import { supports } from './tool-runner.ts';

/**
 * The on_user_message hook may replace what a person said, or refuse it. One that fails refuses it too.
 * @throws CoxswainError `PERMISSION_DENIED / E_HOOK_BLOCKED`, `INTERNAL / E_HOOK_FAILED`
 */
export async function passUserMessages(session: HostedSession, inputs: SessionInput[]): Promise<SessionInput[]> {
  const { hooks } = session.frame.options;
  if (!supports(hooks, 'on_user_message')) return inputs;
  return Promise.all(
    inputs.map(async (input) => {
      if (input.kind !== 'message') return input;
      const parts =
        typeof input.content === 'string' ? [{ type: 'text' as const, text: input.content }] : input.content;
      const context = { sessionId: session.id, agentPath: [session.descriptor.name] };
      const payload = { userMessage: { role: 'user', parts }, context };
      const answer = await failClosed('on_user_message', () => hooks?.fire('on_user_message', payload));
      if (answer?.action === 'block') {
        throw new CoxswainError('PERMISSION_DENIED', 'E_HOOK_BLOCKED', answer.reason ?? 'a hook refused the message');
      }
      const replacement = answer?.modifications?.replacement as { parts?: typeof parts } | undefined;
      return replacement?.parts ? { ...input, content: replacement.parts } : input;
    }),
  );
}

/** A hook that must not be skipped by failing. */
async function failClosed<T>(point: string, hook: () => T | Promise<T>): Promise<T> {
  try {
    return await hook();
  } catch (error) {
    if (isCoxswainError(error)) throw error;
    const message = `an ${point} hook failed: ${messageOf(error)}`;
    throw new CoxswainError('INTERNAL', 'E_HOOK_FAILED', message, { cause: error });
  }
}
