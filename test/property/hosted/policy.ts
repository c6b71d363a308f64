import type { PolicyEvaluator } from '../../../src/contracts/index.ts';
import { hooks } from '../../../src/contracts/index.ts';

/** What a call's argument `p` makes the policy say. */
export const verdicts = {
  allow: 'allow',
  allowLater: 'allow',
  ask: 'ask',
  askLater: 'ask',
  role: 'ask',
  peer: 'ask',
  quorum: 'ask',
  expired: 'deny',
  deny: 'deny',
  throw: 'deny',
  odd: 'deny',
} as const;

export type Word = keyof typeof verdicts;

export const words = Object.keys(verdicts) as Word[];

/** What it all comes to for arguments, whoever answers. */
export function verdictOf(args: Record<string, unknown>): 'allow' | 'ask' | 'deny' {
  return verdicts[(args.p ?? 'allow') as Word] ?? 'allow';
}

export const boss = { id: 'boss', roles: ['boss'] };
export const people = [{ id: 'u' }, { id: 'bob' }, { id: 'eve', roles: ['clerk'] }, boss];

export const policy: PolicyEvaluator = {
  evaluate({ args }) {
    const word = (args?.p ?? 'allow') as Word;
    switch (word) {
      case 'throw':
        throw new Error('the policy is down');
      case 'odd':
        return { outcome: 'maybe' as 'allow' };
      case 'allowLater':
        return later({ outcome: 'allow' });
      case 'askLater':
        return later({ outcome: 'ask' });
      case 'role':
        return { outcome: 'ask', approvers: { roles: ['boss'] } };
      case 'peer':
        return { outcome: 'ask', approvers: { notRequester: true } };
      case 'quorum':
        return { outcome: 'ask', approvers: { quorum: 2 } };
      case 'expired':
        return { outcome: 'ask', expiresIn: 1e-9 };
      default:
        return { outcome: verdicts[word] ?? 'allow' };
    }
  },
};

function later<T>(value: T): Promise<T> {
  return new Promise((resolve) => setImmediate(() => resolve(value)));
}

/** What a call's argument `h` makes the hooks do. */
export const hostHooks = hooks({
  async beforeTool({ args }) {
    switch (args.h) {
      case 'block':
        return { action: 'block', reason: 'hooked' };
      case 'result':
        return { action: 'block', modifications: { result: 'from a hook' } };
      case 'throw':
        throw new Error('the hook is down');
      case 'edit': {
        const { h: _, ...rest } = args;
        return later({ action: 'proceed' as const, modifications: { args: { ...rest, k: `${String(args.k)}h` } } });
      }
      default:
        return undefined;
    }
  },
});
