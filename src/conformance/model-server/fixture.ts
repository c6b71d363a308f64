import { checkIs, text } from '../../session/index.ts';

/** What the agent does in one step of a fixture: what a model would have answered. */
export interface FixtureStep {
  text?: string;
  thought?: string;
  /** Say what the user has said in this session: a JSON array of texts. */
  recall?: boolean;
  calls?: FixtureCall[];
  usage?: { inputTokens: number; outputTokens: number };
  /** Ask the user, through an elicitation: `{message, kind?, expiresInMs?}`. */
  ask?: Record<string, unknown>;
  /** The model fails, with these words. */
  fail?: string;
  /** What goes wrong with the model's answer, as the model server takes it. */
  fault?: Record<string, unknown>;
  /** Why the model's answer ended: `length`, `refusal`. */
  finish?: string;
  /** The model answers never. */
  wait?: boolean;
  /** Milliseconds before the model answers. */
  waitMs?: number;
}

export interface FixtureCall {
  name: string;
  args: Record<string, unknown>;
}

/** A conversation as its executor knows it, oldest first. */
export type FixtureEntry =
  | { role: 'user'; text: string }
  | { role: 'agent'; calls?: readonly { id: string; name: string }[] }
  | { role: 'tool'; callId: string; name?: string; text: string; isError?: boolean };

const MARK = /^\s*cx:\s*(\w+)\s?(.*)$/;

/** The steps that a fixture message asks for; undefined if it is an ordinary message. */
export function parseFixture(message: string): FixtureStep[] | undefined {
  checkIs(message, 'parseFixture: message', text);
  const steps: FixtureStep[] = [];
  let step: FixtureStep | undefined;
  for (const line of message.split('\n')) {
    const [, verb, rest = ''] = MARK.exec(line) ?? [];
    if (verb === undefined) continue;
    // Calls end a step: what follows them is said when their results are there.
    if (step === undefined || (step.calls && verb !== 'call') || verb === 'then') {
      step = {};
      steps.push(step);
    }
    apply(step, verb, rest);
  }
  return steps.length > 0 ? steps : undefined;
}

function apply(step: FixtureStep, verb: string, rest: string): void {
  switch (verb) {
    case 'say':
      step.text = `${step.text ?? ''}${rest}`;
      break;
    case 'words':
      step.text = Array.from({ length: Number(rest) }, (_, index) => `w${index} `).join('');
      break;
    case 'think':
      step.thought = rest;
      break;
    case 'call': {
      const [name = '', ...json] = rest.split(' ');
      step.calls = [...(step.calls ?? []), { name, args: JSON.parse(json.join(' ') || '{}') as FixtureCall['args'] }];
      break;
    }
    case 'usage': {
      const [inputTokens = 0, outputTokens = 0] = rest.split(' ').map(Number);
      step.usage = { inputTokens, outputTokens };
      break;
    }
    case 'ask':
      step.ask = JSON.parse(rest || '{}') as Record<string, unknown>;
      break;
    case 'recall':
      step.recall = true;
      break;
    case 'fail':
      step.fail = rest || 'the fixture fails';
      break;
    case 'fault':
      step.fault = JSON.parse(rest) as Record<string, unknown>;
      break;
    case 'finish':
      step.finish = rest;
      break;
    case 'wait':
      if (rest.trim() === '') step.wait = true;
      else step.waitMs = Number(rest);
      break;
    default: // `nothing`, `then`: an empty step
  }
}

/** What a model that follows fixtures says next in a conversation. */
export function answerFixture(entries: readonly FixtureEntry[]): FixtureStep {
  const at = entries.findLastIndex((entry) => entry.role === 'user' && parseFixture(entry.text) !== undefined);
  const opening = entries[at];
  const since = entries.slice(at + 1);
  const isOver = since.some((entry) => entry.role === 'agent' && !entry.calls?.length);
  if (opening?.role !== 'user' || isOver) return { text: `You said: ${lastWords(entries)}` };
  const steps = parseFixture(opening.text) ?? [];
  const done = since.filter((entry) => entry.role === 'agent').length;
  const step = steps[done];
  if (step === undefined) return { text: resultsIn(since) };
  return step.recall ? { ...step, text: JSON.stringify(wordsOfUser(entries)) } : step;
}

function wordsOfUser(entries: readonly FixtureEntry[]): string[] {
  return entries.flatMap((entry) => (entry.role === 'user' ? [entry.text] : []));
}

function lastWords(entries: readonly FixtureEntry[]): string {
  return wordsOfUser(entries).at(-1) ?? '';
}

/** The latest results, `NAME -> TEXT`, a line each. */
function resultsIn(since: readonly FixtureEntry[]): string {
  const calls = since.findLastIndex((entry) => entry.role === 'agent');
  const asked = since[calls];
  const names = new Map(asked?.role === 'agent' ? asked.calls?.map(({ id, name }) => [id, name]) : []);
  const results = since.slice(calls + 1).filter((entry) => entry.role === 'tool');
  return results.map(({ callId, name, text }) => `${name ?? names.get(callId) ?? callId} -> ${text}`).join('\n');
}
