import { afterEach, describe, expect, test, vi } from 'vitest';
import type { AnyTool, PolicyEvaluator, Principal, ReportedRequest, ToolProvider } from '../../src/contracts/index.ts';
import { createHost, fromAgent, LlmAgent, ParallelAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bot, hostOf, notingTool, only, refusal, results, say } from '../host/kit.ts';

const anything = { inputSchema: { type: 'object' } as const };
const amount = {
  inputSchema: {
    type: 'object',
    properties: { amount: { type: 'integer' }, to: { type: 'string' } },
    required: ['amount'],
  } as const,
};

/** The tools that the team's policy speaks about. */
export const teamTools = {
  read_file: { ...anything, annotations: { readOnly: true } },
  drop_table: anything,
  send_mail: anything,
  pay: amount,
  deploy: anything,
  transfer: amount,
  write_note: anything,
} satisfies Record<string, Partial<AnyTool>>;

export const teamToolList: AnyTool[] = Object.entries(teamTools).map(([name, extra]) => notingTool(name, extra).tool);

/** How an engine can fail. */
export type Failure = 'down' | 'slow' | 'rubbish';

/**
 * The team's policy:
 *
 * - `writes-in-plan`: in mode `plan` whatever is not readOnly is denied
 * - `reads`: readOnly tools are allowed
 * - `no-drops`: drop_table is denied, with the reason "Tables are never dropped here."
 * - `mail`: send_mail is asked about
 * - `payments`: pay is asked about; approvers have role finance and did not ask for it
 * - `deployments`: deploy is asked about, for 60 seconds
 * - `large-transfers`: transfer of more than 1000 is denied; `transfers`: else it is asked about
 * - `interns`: write_note is denied where the agent `intern` is on the path; `notes`: else it is allowed
 * - whatever nothing speaks about is asked about
 */
export interface PolicyEngine {
  team(): Promise<{ policy: PolicyEvaluator; close?: () => Promise<void> }>;
  broken(failure: Failure): Promise<{ policy: PolicyEvaluator; timeoutMs?: number; close?: () => Promise<void> }>;
}

/** What every policy engine does behind a real host. */
export function policySuite(name: string, engine: PolicyEngine): void {
  describe(`policy: ${name}`, () => {
    const closers: (() => Promise<void>)[] = [];
    afterEach(async () => {
      vi.useRealTimers();
      for (const close of closers.splice(0)) await close();
    });

    const team = async () => {
      const { policy, close } = await engine.team();
      if (close) closers.push(close);
      return policy;
    };

    async function calling(
      tool: keyof typeof teamTools,
      args: object = {},
      options: Parameters<typeof hostOf>[1] = {},
    ) {
      const noting = notingTool(tool, teamTools[tool]);
      const policy = options.policy ?? (await team());
      const made = hostOf(bot([{ calls: [[tool, args]] }, 'done']), { tools: [noting.tool], ...options, policy });
      const session = await made.host.open('bot', { principal: { id: 'ann', roles: ['clerk'] } });
      const events = await say(session, 'go');
      return { ...made, session, events, runs: noting.runs, result: results(events)[tool] };
    }

    test('1 allow: the call runs and nobody is asked', async () => {
      const { runs, result } = await calling('read_file');
      expect([runs.length, result]).toEqual([1, 'read_file done']);
    });

    test('2 deny: nothing runs, and the reason reaches the agent', async () => {
      const { runs, result } = await calling('drop_table');
      expect([runs, result]).toEqual([[], 'denied by policy: Tables are never dropped here.']);
    });

    test('3 ask: the call waits for a yes, under the rule that asked', async () => {
      const { session, runs } = await calling('send_mail');
      const question = await only(session);
      expect([runs, question.approval?.ruleId]).toEqual([[], 'mail']);
      await session.respond(question.requestId, yes(question));
      await say(session, { kind: 'continue' });
      expect(runs).toHaveLength(1);
    });

    test('4 ask with a role, and not the requester', async () => {
      const { session, runs } = await calling('pay', { amount: 5 });
      const question = await only(session);
      expect(question.approval?.approvers).toEqual({ roles: ['finance'], notRequester: true });
      const ask = (by: Principal) => session.respond(question.requestId, { ...yes(question), by });
      for (const by of [
        { id: 'ann', roles: ['finance'] },
        { id: 'bob', roles: ['clerk'] },
      ]) {
        expect((await refusal(ask(by))).code).toBe('E_NOT_APPROVER');
      }
      expect(runs).toEqual([]);
      await ask({ id: 'bob', roles: ['finance'] });
      await say(session, { kind: 'continue' });
      expect(runs).toHaveLength(1);
    });

    test('5 expiry: a question without an answer becomes a no', async () => {
      vi.useFakeTimers({ toFake: ['Date'] });
      const { session, runs } = await calling('deploy');
      const question = await only(session);
      expect(Date.parse(question.expiresAt ?? '') - Date.parse(question.requestedAt)).toBe(60_000);
      vi.setSystemTime(Date.now() + 61_000);
      const events = await say(session, { kind: 'continue' });
      expect([results(events).deploy, runs]).toEqual(['denied: nobody answered in time', []]);
    });

    test('6 edited arguments are judged again: what policy denies does not run, what it asks about runs as edited', async () => {
      for (const [edited, ran] of [
        [5000, []],
        [900, [{ amount: 900 }]],
      ] as const) {
        const { session, runs } = await calling('transfer', { amount: 10 });
        const question = await only(session);
        await session
          .respond(question.requestId, { ...yes(question), args: { amount: edited } })
          .catch(() => undefined);
        await say(session, { kind: 'continue' });
        expect(runs).toEqual(ran);
      }
      expect((await calling('transfer', { amount: 1001 })).result).toMatch(/^denied/);
    });

    test('7 the path of agents: what the lead may, the intern below it may not', async () => {
      const note = notingTool('write_note');
      const policy = await team();
      const ran: Record<string, number> = {};
      for (const child of ['intern', 'editor']) {
        note.runs.length = 0;
        const agent = new LlmAgent({ name: child, model: new ScriptedModel([{ calls: [['write_note']] }, 'done']) });
        const host = createHost({
          app: 'shop',
          agents: [fromAgent(new ParallelAgent({ name: 'lead', subAgents: [agent] }))],
          tools: [note.tool],
          policy,
        });
        await say(await host.open('lead'), 'go');
        ran[child] = note.runs.length;
      }
      expect(ran).toEqual({ intern: 0, editor: 1 });
    });

    test('8 a foreign tool that calls itself readOnly is asked about', async () => {
      const runs: unknown[] = [];
      const provider: ToolProvider = {
        name: 'mcp:weather',
        getToolsForAgent: () => [
          { name: 'forecast', description: '', inputSchema: { type: 'object' }, annotations: { readOnly: true } },
        ],
        async execute(call) {
          runs.push(call);
          return 'sun';
        },
      };
      const { host } = hostOf(bot([{ calls: [['forecast']] }, 'done']), {
        toolProviders: [provider],
        policy: await team(),
      });
      const session = await host.open('bot');
      await say(session, 'go');
      expect([(await only(session)).name, runs]).toEqual(['forecast', []]);
    });

    test('9 plan mode: what is not readOnly is denied, reading goes on', async () => {
      const options = { permissionMode: 'plan' as const };
      const [write, read] = [await calling('write_note', {}, options), await calling('read_file', {}, options)];
      expect([write.result?.slice(0, 6), write.runs, read.result]).toEqual(['denied', [], 'read_file done']);
      // The engine says so by itself, too, wherever it is asked.
      const asked = { action: 'write_note', args: {}, context: { permissionMode: 'plan' } };
      expect((await (await team()).evaluate(asked)).outcome).toBe('deny');
    });

    for (const [n, failure] of [
      [10, 'down'],
      [11, 'slow'],
      [12, 'rubbish'],
    ] as const) {
      test(`${n} an engine that is ${failure}: every call is denied, and the session lives on`, async () => {
        const { policy, timeoutMs = 10_000, close } = await engine.broken(failure);
        if (close) closers.push(close);
        const options = { policy, policyTimeoutMs: timeoutMs };
        const { runs, result, session } = await calling('read_file', {}, options);
        expect([runs, result]).toEqual([[], expect.stringMatching(/^denied by policy: /)]);
        expect(await session.pending()).toEqual([]);
      });
    }
  });
}

function yes({ approval }: ReportedRequest) {
  return { kind: 'approve' as const, previewDigest: approval?.previewDigest ?? '' };
}
