import type { ReportedRequest } from '../../contracts/index.ts';
import { describedWidth } from '../questions/index.ts';
import { argsLine, clean, paint } from '../terminal/index.ts';
import { commandLine } from './command-line.ts';
import type { HostFlags } from './flags.ts';
import { userName } from './flags.ts';
import { DEFAULT_STORE, shownUrl } from './store.ts';

/** What a later command needs to come to the same host: only what differs from the defaults. */
export function hostOptions(flags: HostFlags): Record<string, string | undefined> {
  return {
    store: isOwnDefault(flags.store) ? undefined : shownUrl(flags.store),
    app: flags.app === 'cli' ? undefined : flags.app,
    user: flags.user === userName() ? undefined : flags.user,
    policy: flags.policy,
    mode: flags.mode,
    workspace: flags.workspace,
    model: flags.model,
    'mcp-servers': flags.mcpServers,
  };
}

/** What the next command takes by itself. */
function isOwnDefault(store: string): boolean {
  return store === (process.env.COXSWAIN_STORE ?? DEFAULT_STORE);
}

/** Digits of a digest that are shown, and that at least are wanted back. */
export const DIGEST_LENGTH = 12;

/** What a yes to the request is to, as `--digest` takes it; undefined where it is to no preview. */
export function shownDigest({ approval }: Pick<ReportedRequest, 'approval'>): string | undefined {
  return approval?.previewDigest.slice(0, DIGEST_LENGTH);
}

/** One request in a line or two, for people. */
export function describeRequest(
  request: Pick<ReportedRequest, 'kind' | 'name' | 'args' | 'message' | 'elicitation'>,
): string {
  const { kind, name, args, message } = request;
  const call = name === undefined ? '' : `${clean(name)} ${argsLine(args, describedWidth())}`.trim();
  if (kind === 'rerun_unknown') return clean(message ?? `${name} was started and its outcome is unknown`);
  if (kind === 'tool') return `${call} waits for its result, and nobody here runs it`;
  const question = clean(message ?? 'a question');
  return request.elicitation === 'tool_confirmation' || call === '' ? `${question} ${call}`.trim() : question;
}

/** What is open and how it is answered, as lines for stderr. */
export function openRequestLines(pending: readonly ReportedRequest[], module: string, flags: HostFlags): string[] {
  const lines: string[] = [];
  for (const request of pending) {
    lines.push(`${paint('yellow', 'coxswain:')} input required: ${describeRequest(request)}`);
    lines.push(`  request  ${request.requestId}`);
    lines.push(`  session  ${request.sessionId}`);
    if (request.kind === 'tool') continue;
    const options = { agent: module, ...hostOptions(flags) };
    // The line above has no room for all that a yes counts for.
    lines.push(`  whole    ${commandLine(['approvals', 'list'], { session: request.sessionId, ...options })}`);
    const approve = { ...options, digest: shownDigest(request) };
    lines.push(`  approve  ${commandLine(['approvals', 'approve', request.requestId], approve)}`);
    lines.push(`  deny     ${commandLine(['approvals', 'deny', request.requestId], options)}`);
  }
  return lines;
}

/** The same for somebody who talks to the agent. */
export function openQuestionLines(pending: readonly ReportedRequest[]): string[] {
  const lines = pending.map((request, index) => `${paint('yellow', 'open')} ${index + 1}  ${describeRequest(request)}`);
  return [
    ...lines,
    paint('dim', 'Enter asks again, /pending shows it whole, /approve and /deny answer it; a message would cancel it'),
  ];
}
