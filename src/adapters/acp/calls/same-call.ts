import type { ToolCallContent } from '@agentclientprotocol/sdk';
import { canonicalJson } from '../../../contracts/index.ts';

/** What a call would do, as far as its agent has told. */
export interface Subject {
  id: string;
  kind: string;
  title: string | undefined;
  /** Raw inputs that were shown, or the one that is run; none: it was not told. */
  inputs: readonly unknown[];
  content: readonly ToolCallContent[];
}

/**
 * Members with which an agent's record of a call (an input that names the call's own id) tells about the call: what
 * comes with a question or a start, and is not what is run.
 */
const RECORD = new Set([
  'auto_approved',
  'available_decisions',
  'call_id',
  'completed_at_ms',
  'parsed_cmd',
  'process_id',
  'proposed_execpolicy_amendment',
  'proposed_network_policy_amendments',
  'reason',
  'source',
  'started_at_ms',
  'turn_id',
]);

const COMMAND = ['command', 'cmd', 'script'];
const TIME = /^(at|timestamp|(asked|begun|completed|created|ended|requested|started|updated)_?at(_?ms)?)$/i;

/** Whether what is run is what was allowed, by the members that mean something. What is not told cannot differ. */
export function isSameCall(allowed: Subject, begun: Subject, volatile: ReadonlySet<string>): boolean {
  if (allowed.kind !== begun.kind) return false;
  if (allowed.inputs.length > 0) {
    const isSame = (input: unknown) => allowed.inputs.some((shown) => isSameInput(shown, input, begun, volatile));
    return begun.inputs.every(isSame);
  }
  // Without an input, the files of an edit, or else the title, are all that a person has seen.
  const shown = new Set(pathsOf(allowed.content));
  if (begun.kind === 'execute' || shown.size === 0) return allowed.title === begun.title;
  return pathsOf(begun.content).every((path) => shown.has(path));
}

function isSameInput(asked: unknown, begun: unknown, call: Naming, volatile: ReadonlySet<string>): boolean {
  const [shown, run] = [inputMembers(asked), inputMembers(begun)];
  if (!shown || !run) return canonicalJson(asked) === canonicalJson(begun);
  const names = [...new Set([...Object.keys(shown), ...Object.keys(run)])];
  return names.every((name) => isSameMember(name, shown, run, call, volatile));
}

type Naming = Pick<Subject, 'id' | 'kind'>;
type Members = Record<string, unknown>;

function isSameMember(
  name: string,
  shown: Members,
  run: Members,
  { id, kind }: Naming,
  volatile: ReadonlySet<string>,
): boolean {
  if (volatile.has(name)) return true;
  const isRecord = shown.call_id === id && run.call_id === id;
  // What only the question has is about the question.
  if (isRecord && (RECORD.has(name) || !Object.hasOwn(run, name))) return true;
  const [before, now] = [shown[name], run[name]];
  // Where the command itself is told, a time is when it was asked or begun; elsewhere it may be an argument.
  const namesCommand = kind === 'execute' && COMMAND.some((member) => Object.hasOwn(shown, member));
  if (namesCommand && TIME.test(name) && [before, now].every(isTime)) return true;
  return before !== undefined && now !== undefined && canonicalJson(before) === canonicalJson(now);
}

/**
 * What a person is shown of an input that was told twice, when the call was announced and when it was asked about: all
 * members, in the words of the question. `inputs` are those that were shown whole; `hides`: the question says something
 * else than the announcement.
 */
export function shownInputs(
  announced: unknown,
  asked: unknown,
  call: Naming,
  volatile: ReadonlySet<string>,
): { shown: unknown; inputs: unknown[]; hides: boolean } {
  if (announced === undefined || asked === undefined) {
    const shown = asked ?? announced;
    return { shown, inputs: shown === undefined ? [] : [shown], hides: false };
  }
  const [before, now] = [inputMembers(announced), inputMembers(asked)];
  if (!before || !now) {
    return { shown: asked, inputs: [asked], hides: canonicalJson(announced) !== canonicalJson(asked) };
  }
  const shown = { ...before, ...now };
  const hides = !Object.keys(before).every((name) => isSameMember(name, shown, before, call, volatile));
  return { shown, inputs: [asked, shown, ...(hides ? [] : [announced])], hides };
}

export function inputMembers(input: unknown): Record<string, unknown> | undefined {
  return typeof input === 'object' && input !== null && !Array.isArray(input)
    ? (input as Record<string, unknown>)
    : undefined;
}

function isTime(value: unknown): boolean {
  if (value === undefined || typeof value === 'number') return true;
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}

function pathsOf(content: readonly ToolCallContent[]): string[] {
  return content.flatMap((block) => (block.type === 'diff' ? [block.path] : []));
}
