import type { StoredEvent } from '../log/index.ts';

/**
 * What all events of a log come to, as lists show it: also what a rewind has taken from what counts, since it was spent and
 * called all the same. It is kept as the log grows, so that no list reads a log.
 */
export interface SessionFacts {
  /** With which it began: the root of its first turn, or its first author who is neither a user nor a host; '' until there is one. */
  agent: string;
  /** Answers of models. */
  steps: number;
  inputTokens: number;
  outputTokens: number;
  /** Billionths of a USD, as far as events have a cost: whole numbers add up to the same in every database. */
  nanoUsd: number;
  /** Names of tools that were called, each once, in the order of their first call, as far as {@link addTools} keeps them. */
  tools: string;
}

/** Characters of the names that are kept of a session: models may call what is no tool. */
export const MAX_TOOLS = 8000;
/** A longer name is none of a tool. */
const MAX_NAME = 256;

/** One name as `tools` has it: none is a part of another, and no database spoils it. */
export const toolEntry = (name: string): string => `\n${JSON.stringify(name)}\n`;

export const noFacts = (): SessionFacts => ({
  agent: '',
  steps: 0,
  inputTokens: 0,
  outputTokens: 0,
  nanoUsd: 0,
  tools: '',
});

/** Adds names that are not there yet. */
export function addTools(tools: string, names: Iterable<string>): string {
  let all = tools;
  for (const name of names) {
    if (all.length > MAX_TOOLS) break;
    const entry = toolEntry(name);
    if (!all.includes(entry)) all += entry;
  }
  return all;
}

function toolsOf(tools: string): string[] {
  // Two parts of a log that were counted one after the other may have the same name.
  const lines = new Set(tools.split('\n'));
  lines.delete('');
  return [...lines].map(nameOf);
}

function nameOf(line: string): string {
  try {
    return String(JSON.parse(line));
  } catch {
    return line;
  }
}

/** What events add to the facts of their session; undefined: nothing. */
export interface FactsChange extends Omit<SessionFacts, 'tools'> {
  readonly tools: ReadonlySet<string>;
}

export function factsChange(events: readonly StoredEvent[]): FactsChange | undefined {
  const change = { ...noFacts(), tools: new Set<string>() };
  for (const event of events) see(change, event);
  const { steps, inputTokens, outputTokens, nanoUsd, tools, agent } = change;
  const isAny = steps + inputTokens + outputTokens + nanoUsd > 0 || tools.size > 0;
  // An agent that has said nothing of what is counted: its name comes with the next event that has.
  return isAny || (agent !== '' && events.some(({ seq }) => seq <= 1)) ? change : undefined;
}

function see(change: Omit<SessionFacts, 'tools'> & { tools: Set<string> }, event: StoredEvent): void {
  const { author, content, usage, actions } = event;
  const { turn } = actions;
  if (change.agent === '') change.agent = turn ? (turn.root ?? turn.start) : isAgents(author) ? author : '';
  if (content?.role === 'model' && actions.hook === undefined) change.steps += 1;
  if (usage) {
    change.inputTokens += count(usage.inputTokens);
    change.outputTokens += count(usage.outputTokens);
    change.nanoUsd += count((usage.cost?.usd ?? 0) * 1e9);
  }
  for (const part of content?.parts ?? [])
    if (part.type === 'function_call' && part.name.length <= MAX_NAME) change.tools.add(part.name.toWellFormed());
}

const isAgents = (author: string) => author !== 'user' && author !== 'host';

/** As how much one event counts at most, whatever its model claims: a sum over hundreds of thousands still fits a database's integer. */
const MAX_COUNT = 1e13;

function count(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.min(Math.round(value), MAX_COUNT) : 0;
}

export function addFacts(facts: SessionFacts, { agent, steps, tools, ...more }: FactsChange): void {
  if (facts.agent === '') facts.agent = agent;
  facts.steps += steps;
  facts.inputTokens += more.inputTokens;
  facts.outputTokens += more.outputTokens;
  facts.nanoUsd += more.nanoUsd;
  facts.tools = addTools(facts.tools, tools);
}

/** As a summary has them. */
export function listedFacts({ agent, steps, inputTokens, outputTokens, nanoUsd, tools }: SessionFacts) {
  return {
    ...(agent === '' ? {} : { agent }),
    steps,
    inputTokens,
    outputTokens,
    ...(nanoUsd === 0 ? {} : { usd: nanoUsd / 1e9 }),
    tools: toolsOf(tools),
  };
}
