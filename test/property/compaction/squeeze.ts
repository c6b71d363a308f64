import type { AnyAgentTool, Content } from '../../../src/contracts/index.ts';
import type {
  LlmAgentOptions,
  Model,
  ModelRequest,
  ModelResponse,
  RequestProcessor,
  StoredEvent,
} from '../../../src/runtime/index.ts';
import { History, LlmAgent } from '../../../src/runtime/index.ts';
import type { Random } from '../replay/random.ts';
import { below, hash, randomOf } from '../replay/random.ts';
import type { Parts } from '../replay/tree.ts';
import { soundParts } from '../replay/tree.ts';

/** What was seen that must not be, and how often something was looked at. */
export interface Sight {
  faults: string[];
  summaries: number;
  overflows: number;
}

export const sight = (): Sight => ({ faults: [], summaries: 0, overflows: 0 });

/** The parts of a tree whose tools give long results and whose histories are never compacted. */
export const padded: Parts = {
  ...soundParts,
  llm: (options) => new LlmAgent({ ...options, tools: options.tools?.map(longWinded) ?? [], compaction: false }),
};

/** The same, in windows that are too small for them. */
export function squeezed(seed: number, seen: Sight): Parts {
  const random = randomOf(seed * 7919);
  return {
    ...padded,
    llm: (options) =>
      new LlmAgent({
        ...options,
        tools: options.tools?.map(longWinded) ?? [],
        ...(isModel(options.model) ? { model: squeezing(options.model, seed, seen) } : {}),
        compaction: compactionOf(random),
        processors: [...(options.processors ?? []), sameAsAnew(seen)],
      }),
  };
}

const isModel = (model: LlmAgentOptions['model']): model is Model => typeof model === 'object';

function compactionOf(random: Random): NonNullable<LlmAgentOptions['compaction']> {
  const window = 50 + below(random, [200, 2000, 20_000][below(random, 3)] ?? 200);
  return {
    window,
    keep: 1 + below(random, 6),
    at: 0.1 + 0.9 * random(),
    ...(random() < 0.2 ? { summarise: ({ text }) => (random() < 0.3 ? undefined : text.slice(0, 200)) } : {}),
  };
}

/** Of the same length wherever and whenever it runs. */
function longWinded(tool: AnyAgentTool): AnyAgentTool {
  const { execute } = tool;
  if (!execute || Object.getOwnPropertySymbols(tool).length > 0) return tool;
  return {
    ...tool,
    async execute(args, context) {
      const result: unknown = await execute.call(tool, args, context);
      if (typeof result !== 'object' || result === null) return result as never;
      const length = [0, 300, 3000, 30_000][hash(`length ${String((args as { k?: unknown }).k)}`) % 4] ?? 0;
      return { ...result, long: 'word '.repeat(length / 5) };
    },
  };
}

/** Counts tokens as it likes, refuses some requests as too long, and is asked for summaries. */
function squeezing(model: Model, seed: number, seen: Sight): Model {
  const refused = new Set<string>();
  return {
    ...model,
    async *generate(request, options) {
      inOrder(request.contents, seen);
      if (request.purpose === 'compaction') {
        seen.summaries++;
        yield summaryOf(request, seed);
        return;
      }
      const key = String(request.config.key);
      const random = randomOf(hash(`${seed} counts ${key}`));
      if (random() < 0.15 && !refused.has(key)) {
        refused.add(key);
        seen.overflows++;
        yield { errorCode: 'context_length_exceeded', errorMessage: 'too long' };
        return;
      }
      const inputTokens = [0, 40, 400, 4000, 400_000][below(random, 5)] ?? 0;
      for await (const frame of model.generate(request, options)) {
        const told = !frame.partial && random() < 0.8;
        yield told ? { ...frame, usage: { inputTokens, outputTokens: below(random, 200) } } : frame;
      }
    },
  };
}

function summaryOf({ contents }: ModelRequest, seed: number): ModelResponse {
  const asked = JSON.stringify(contents);
  const roll = hash(`${seed} ${asked}`) % 8;
  const say = (text: string, finishReason = 'stop'): ModelResponse => ({
    content: { role: 'model', parts: [{ type: 'text', text }] },
    finishReason,
    usage: { inputTokens: asked.length, outputTokens: text.length },
  });
  if (roll === 0) return { errorCode: 'http_500', errorMessage: 'down' };
  if (roll === 1) return { errorCode: 'context_length_exceeded', errorMessage: 'too long' };
  if (roll === 2) return say('');
  if (roll === 3) return say(asked + asked);
  if (roll === 4) return say('cut off', 'length');
  return say(`summary ${roll}`);
}

/** Each call has one response in the message behind it, in the order of the calls. */
export function inOrder(contents: readonly Content[], seen: Pick<Sight, 'faults'>): void {
  let open: string[] = [];
  for (const { parts } of contents) {
    const given = parts.flatMap((part) => (part.type === 'function_response' ? [part.id] : []));
    if (given.join() !== open.join()) seen.faults.push(`calls ${open.join()} are answered by ${given.join()}`);
    open = parts.flatMap((part) => (part.type === 'function_call' ? [part.id] : []));
  }
  if (open.length > 0) seen.faults.push(`calls ${open.join()} have no answer`);
}

/** Whoever reads the log from its beginning has the same history; nothing that a user says in this turn is missing. */
function sameAsAnew(seen: Sight): RequestProcessor {
  return {
    name: 'SameAsAnew',
    process({ context, agent }, draft) {
      const { session, fold } = context.invocation;
      const viewer = { agent: agent.name, branch: context.branch, iso: context.iso };
      const history = session.history(viewer);
      if (history instanceof Promise) return;
      const { log } = session;
      const kept = history.contents;
      const own = log.map((event) => (isOthers(event, agent.name, context.branch) ? without(event) : event));
      const other = new History(viewer);
      const anew = other.extend(own, (id) => log.find((event) => event.id === id));
      if (history.estimate() !== other.estimate())
        seen.faults.push(`${agent.name} at ${context.path} is counted wrongly`);
      if (JSON.stringify(kept) !== JSON.stringify(anew)) {
        seen.faults.push(`${agent.name} at ${context.path} is shown another history than a new reader of the log`);
      }
      const said = JSON.stringify(draft.contents);
      for (const { author, content, turnId, iso, branch } of log) {
        if (author !== 'user' || turnId !== fold.turn?.id || (iso ?? '') !== context.iso || branch) continue;
        for (const part of content?.parts ?? []) {
          if (part.type === 'text' && !said.includes(JSON.stringify(part.text))) {
            seen.faults.push(`${agent.name} at ${context.path} is not shown what the user says: ${part.text}`);
          }
        }
      }
    },
  };
}

const isOthers = ({ author, branch }: StoredEvent, name: string, own: string | undefined): boolean =>
  author !== name || branch !== own;

const without = (event: StoredEvent): StoredEvent => {
  const { compacted: _, ...actions } = event.actions;
  return { ...event, actions };
};

/** What is wrong with the compactions of a log. */
export function compactionFaults(log: readonly StoredEvent[]): string[] {
  const faults: string[] = [];
  for (const [at, event] of log.entries()) {
    const { compacted } = event.actions;
    if (!compacted) continue;
    const where = `the compaction ${event.seq} of ${event.author} at ${event.path}`;
    const before = log.slice(0, at);
    const answered = new Set(
      before
        .flatMap(({ content }) => content?.parts ?? [])
        .flatMap((p) => (p.type === 'function_response' ? [p.id] : [])),
    );
    for (const id of Object.keys(compacted.cleared ?? {}))
      if (!answered.has(id)) faults.push(`${where} clears open ${id}`);
    const isIn = ({ seq }: StoredEvent) =>
      compacted.summary !== undefined && seq >= compacted.from && seq <= compacted.through;
    for (const { author, branch, iso, content } of before.filter(isIn)) {
      if (author !== event.author || branch !== event.branch || iso !== event.iso) continue;
      for (const part of content?.parts ?? []) {
        if (part.type === 'function_call' && !answered.has(part.id)) faults.push(`${where} cuts open ${part.id}`);
      }
    }
    const viewer = { agent: event.author, branch: event.branch, iso: event.iso ?? '' };
    const tokens = (some: readonly StoredEvent[]) => {
      const history = new History(viewer);
      history.extend(some, (id) => log.find((other) => other.id === id));
      return history.estimate();
    };
    if (tokens(log.slice(0, at + 1)) >= tokens(before))
      faults.push(
        `${where} leaves nothing out: ${tokens(log.slice(0, at + 1))} of ${tokens(before)} tokens ${JSON.stringify(compacted).slice(0, 300)}`,
      );
    if (compacted.tokensAfter > compacted.tokensBefore) faults.push(`${where} says that the history has grown`);
  }
  return faults;
}
