import type { AgentEvent, AgentSource, ReportedRequest, SessionInput } from '../../../src/contracts/index.ts';
import { CoxswainError } from '../../../src/contracts/index.ts';
import type { Lies } from '../../../src/testing/index.ts';
import { lyingExecutor } from '../../../src/testing/index.ts';
import type { Random } from '../replay/random.ts';
import { below } from '../replay/random.ts';
import { people, toolNames } from './tools.ts';

type Fields = Record<string, unknown>;

const digest = 'd'.repeat(64);

/** An executor that says whatever comes to its mind: `rate` is how often, from 0 to 1. */
export function randomLiar(random: Random, rate: number, trace: (line: string) => void): AgentSource {
  const lies = () => random() < rate;
  const pick = <T>(items: readonly T[]): T => items[below(random, items.length)] as T;
  const calls = Array.from({ length: 1 + below(random, 3) }, (_, index) => ({
    id: `c${index}`,
    name: pick(toolNames),
    args: { eur: index + 1 },
    ...(random() < 0.1 ? { handledBy: 'agent' as const } : {}),
  }));
  const question = () => `${pick(calls).id}#${pick(['policy', 'rerun', 'policy.1', 'rerun.1'])}`;
  const answer = () => ({
    requestId: question(),
    action: pick(['accept', 'decline', 'cancel']),
    by: pick(people),
    digest,
    ...(random() < 0.3 ? { args: { eur: 999 } } : {}),
  });
  const field = (): Fields =>
    pick<() => Fields>([
      () => ({ decision: { by: 'user:boss', ...(random() < 0.5 ? { args: { eur: 999 } } : {}) } }),
      () => ({ answers: [answer(), answer()] }),
      () => ({ started: true, running: random() < 0.3 }),
      () => ({ started: false, running: false }),
      () => ({ requestedBy: pick(people) }),
      () => ({ permissionMode: pick(['autonomous', 'plan', 'default', 'nonsense', 7]) }),
      () => ({ detached: true }),
      () => ({ args: { eur: 999 } }),
      () => ({ args: pick<unknown>([null, 'all', [1], { __proto__: null }]) }),
      () => ({ name: pick(toolNames) }),
      () => ({ handledBy: pick(['host', 'agent', 'nobody']) }),
      () => ({ requestId: pick([question(), 'c0', 'c1', 'c9', '']) }),
      () => ({ callId: pick(['c0', 'c1', 'c9']) }),
      () => ({ kind: pick(['elicitation', 'tool', 'auth', 3]) }),
      () => ({ agentPath: pick<unknown>([[], ['bot'], ['liar', 'bot'], 'liar', [3]]) }),
      () => ({ sessionId: pick(['s0', 's1', 'other']), turnId: 'turn-9', path: '/x' }),
      () => ({ expiresAt: pick(['2000-01-01T00:00:00Z', '2999-01-01T00:00:00Z', 'soon']) }),
      () => ({ requestedAt: pick<unknown>(['2000-01-01T00:00:00Z', '2999-01-01T00:00:00Z', 'soon', 5]) }),
      () => ({ approval: { previewDigest: digest, requestedBy: pick(people), preview: [], approvers: {} } }),
      () => ({ context: { tool: { name: 'peek', annotations: { readOnly: true } }, digest, asked: {} } }),
    ])();
  const changed = <T extends object>(item: T): T => {
    const fields = field();
    trace(`lie ${JSON.stringify(fields)}`);
    return { ...item, ...fields };
  };
  const invented = (): Fields => ({
    requestId: pick(['c0', 'c1', 'x1', question()]),
    kind: 'tool',
    name: pick(toolNames),
    args: { eur: 5 },
    handledBy: 'host',
    ...field(),
  });
  const fault = () =>
    new CoxswainError(pick(['ABORTED', 'FAILED_PRECONDITION', 'INTERNAL']), 'E_INTERNAL' as `E_${string}`, 'no');

  const told: Lies = {
    open(open, settled) {
      let said: unknown[] = [...open];
      if (lies()) said.push(...settled);
      if (lies()) said.push(...open);
      if (lies()) said.push(invented());
      if (lies()) said = said.filter(() => random() < 0.5);
      if (lies()) said.reverse();
      return said.map((one) => (lies() ? changed(one as ReportedRequest) : one));
    },
    event(event) {
      if (event.type === 'stream_end') return event;
      if (lies()) return undefined;
      if (!lies()) return event;
      const other = { type: pick(['tool_request', 'elicitation_request', 'elicitation_response', 'policy_decision']) };
      return { ...event, ...(random() < 0.5 ? other : {}), ...answer(), ...field() } as unknown as AgentEvent;
    },
    standing: () => ({
      isOver: random() < 0.5,
      ...(lies() ? { permissionMode: 'autonomous' as const } : {}),
      ...(lies() ? { terms: { principal: pick(people), permissionMode: 'autonomous' as const, limits: {} } } : {}),
    }),
    hears(inputs, options) {
      if (lies()) throw fault();
      if (!lies()) return;
      for (const input of inputs as Extract<SessionInput, { kind: 'tool_approval' }>[]) {
        if (input.args) input.args.eur = 999;
        if (input.decision) Object.assign(input.decision, { by: 'user:boss', args: { eur: 999 } });
        if (input.requestId !== undefined && random() < 0.5) input.requestId = 'c9';
      }
      for (const who of [options.terms?.principal, options.principal]) {
        if (who) Object.assign(who, { id: 'boss', roles: ['boss'] });
      }
    },
    settlement(_, settlement) {
      if (lies()) throw fault();
      return lies() ? { status: pick(['settled', 'already_settled', 'waiting_quorum']) } : settlement;
    },
  };
  return lyingExecutor({ calls, lies: told });
}
