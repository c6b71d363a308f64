import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FromAcpOptions } from '../../src/adapters/acp/index.ts';
import { fromAcp } from '../../src/adapters/acp/index.ts';
import { ModelServer } from '../../src/conformance/index.ts';
import type { AgentEvent } from '../../src/index.ts';
import { createHost } from '../../src/index.ts';
import type { Trial } from './subject.ts';
import { hold } from './under-gate.ts';

type Call = { name: string; args: Record<string, unknown> };

/** An agent that speaks ACP, and the tools that its model would call. */
export interface AcpSubject {
  options: Partial<FromAcpOptions>;
  /** Writes its settings; its environment beside that of the model server. */
  settle(place: { home: string; cwd: string; url: string }): Record<string, string>;
  shell(command: string): Call;
  write(path: string, text: string): Call;
}

interface Turn {
  events: AgentEvent[];
  asked: string[];
  cwd: string;
}

/** One prompt to an agent that is started for it, in a folder of its own, under a host whose person gives `answer`. */
async function turn(
  agent: AcpSubject,
  calls: (cwd: string) => Call[],
  answer: 'approve' | 'deny',
  more: Partial<FromAcpOptions>,
  judge: (turn: Turn) => string,
): Promise<string> {
  const place = mkdtempSync(join(tmpdir(), 'coxswain-acp-'));
  const [home, cwd] = [join(place, 'home'), join(place, 'project')];
  mkdirSync(home);
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'old.txt'), 'an old line\n');
  const asked: string[] = [];
  await using server = await ModelServer.start({
    script: [...calls(cwd).map((call) => ({ calls: [call] })), { text: 'that is all' }],
    // Its questions beside the conversation: whether the key works, a title, which model to take.
    aside: ({ body, conversation }) =>
      Array.isArray(body.tools) && body.tools.length > 0 && JSON.stringify(conversation).includes('begin')
        ? undefined
        : { text: '{}' },
  });
  const host = createHost({
    app: 'interop',
    agents: [
      fromAcp({
        name: 'foreign',
        cwd,
        env: { HOME: home, ...server.env, ...agent.settle({ home, cwd, url: server.url }) },
        startTimeoutMs: 90_000,
        // Some look into a command before they ask about it, and this machine may be busy.
        askWithinMs: 20_000,
        ...agent.options,
        ...more,
      }),
    ],
    warn: () => {},
    onApproval: ({ name = '', approval }) => {
      asked.push(name);
      return { kind: answer, previewDigest: approval.previewDigest, by: { id: 'ann' } };
    },
  });
  try {
    const session = await host.open('foreign');
    const events: AgentEvent[] = [];
    for await (const event of session.stream('begin')) events.push(event);
    const failed = events.find((event) => event.type === 'error');
    hold(failed === undefined, failed?.type === 'error' ? failed.message : '');
    return judge({ events, asked, cwd });
  } finally {
    await host.close();
    rmSync(place, { recursive: true, force: true, maxRetries: 5 });
  }
}

const wordsOf = (events: readonly AgentEvent[]) =>
  events.flatMap((event) =>
    event.type === 'message' && !event.partial && event.role === 'agent' ? event.content : [],
  );
const resultsOf = (events: readonly AgentEvent[]) => events.filter((event) => event.type === 'tool_response');

/** What every agent is tried with. */
export async function tryAgent({ check }: Trial, agent: AcpSubject): Promise<void> {
  const command = (cwd: string) => [agent.shell(`cat old.txt; echo ran >> ${join(cwd, 'ran.txt')}`)];
  const runs = (cwd: string) =>
    existsSync(join(cwd, 'ran.txt')) ? readFileSync(join(cwd, 'ran.txt'), 'utf8').split('ran').length - 1 : 0;
  const approved = ({ events, asked, cwd }: Turn) => {
    hold(asked.length === 1 && runs(cwd) === 1, `asked ${asked.length} times, ran ${runs(cwd)} times`);
    const [result, ...others] = resultsOf(events);
    hold(others.length === 0 && result?.isError !== true, JSON.stringify(resultsOf(events)).slice(0, 300));
    hold(JSON.stringify(wordsOf(events)).includes('that is all'), 'it did not go on');
    return `${asked[0]}, result ${JSON.stringify(result?.content).includes('an old line') ? 'with' : 'without'} its output`;
  };
  await check('says what its model says', () =>
    turn(
      agent,
      () => [],
      'approve',
      {},
      ({ events }) => {
        hold(JSON.stringify(wordsOf(events)).includes('that is all'), JSON.stringify(wordsOf(events)));
        return '';
      },
    ),
  );
  await check('an approved command runs once', () => turn(agent, command, 'approve', {}, approved));
  await check('also where commands need no question', () =>
    turn(agent, command, 'approve', { unasked: ['read', 'search', 'think', 'execute'] }, approved),
  );
  await check('a denied command does not run', () =>
    turn(agent, command, 'deny', {}, ({ events, asked, cwd }) => {
      hold(asked.length === 1 && runs(cwd) === 0, `asked ${asked.length} times, ran ${runs(cwd)} times`);
      hold(resultsOf(events)[0]?.errorType === 'denied', JSON.stringify(resultsOf(events)).slice(0, 300));
      return '';
    }),
  );
  await check('an approved edit is written', () =>
    turn(
      agent,
      (cwd) => [agent.write(join(cwd, 'new.txt'), 'new')],
      'approve',
      {},
      ({ asked, cwd }) => {
        hold(asked.length === 1 && existsSync(join(cwd, 'new.txt')), `asked ${asked.length} times, and not written`);
        return asked[0] ?? '';
      },
    ),
  );
}

/** Settings of codex, which both of its adapters read. */
export function codexHome(policy: string, { home, cwd, url }: { home: string; cwd: string; url: string }) {
  const folder = join(home, '.codex');
  mkdirSync(folder);
  const lines = [
    'model = "gpt-5"',
    'model_provider = "loopback"',
    `approval_policy = "${policy}"`,
    'sandbox_mode = "danger-full-access"',
    'check_for_update_on_startup = false',
    '[model_providers.loopback]',
    'name = "loopback"',
    `base_url = "${url}/v1"`,
    'env_key = "OPENAI_API_KEY"',
    'wire_api = "responses"',
    '[analytics]',
    'enabled = false',
    `[projects."${cwd}"]`,
    'trust_level = "trusted"',
  ];
  writeFileSync(join(folder, 'config.toml'), `${lines.join('\n')}\n`);
  return { CODEX_HOME: folder, NO_BROWSER: '1' };
}

/** An edit as codex makes it: a command that it takes for a patch. */
export const codexPatch = (path: string, text: string): string =>
  ["apply_patch <<'EOF'", '*** Begin Patch', `*** Add File: ${path}`, `+${text}`, '*** End Patch', 'EOF', ''].join(
    '\n',
  );
