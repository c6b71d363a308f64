import type { Tool } from '@modelcontextprotocol/client';
import { isObject } from '../../../../base/index.ts';
import { canonicalJson, isNestedDeeper, MAX_JSON_DEPTH } from '../../../../contracts/index.ts';
import { dropNulls, isBefore2026 } from './nulls.ts';
import { mendSchema } from './schema.ts';
import type { McpSdk } from './sdk.ts';

export interface Reading {
  sdk: McpSdk;
  /** Of the protocol, as it was agreed upon. */
  version: string | undefined;
  /** The listing that is under way. */
  walk: ListWalk;
  /** Told of what is left out. */
  warn: (text: string) => void;
}

/** Pages that one list may have: a server that always has one more is left with what it has said so far. */
const MAX_PAGES = 256;
/** Tools that one list may have: each is compiled, and goes to a model with every request. */
const MAX_TOOLS = 2_000;
/** Levels of a tool, of which schemas take two to say what one level of a value is. */
const MAX_LEVELS = 2 * MAX_JSON_DEPTH;
/** Characters of a name in a warning. */
const MAX_CALLED = 200;

/** The cursors of one list, so that it ends where the server goes round. */
export class ListWalk {
  readonly #cursors = new Set<string>();
  #tools = 0;

  begin(): void {
    this.#cursors.clear();
    this.#tools = 0;
  }

  /** How many of so many more the list still takes. */
  room(more: number): number {
    const room = Math.min(more, MAX_TOOLS - this.#tools);
    this.#tools += room;
    return room;
  }

  /** Why the list ends here though the server says that there is more; undefined: it goes on. */
  endsAt(cursor: string): string | undefined {
    if (this.#cursors.has(cursor)) return 'its cursors go round';
    this.#cursors.add(cursor);
    return this.#cursors.size < MAX_PAGES ? undefined : `it has more than ${MAX_PAGES} pages`;
  }
}

/** Takes out of a page of tools what is none, and a cursor that leads nowhere. */
export function readListed(result: { tools: unknown[]; nextCursor?: unknown }, reading: Reading): void {
  const { sdk, version, walk, warn } = reading;
  const room = walk.room(result.tools.length);
  if (room < result.tools.length) {
    warn(`its list of tools is taken as far as it goes: it has more than ${MAX_TOOLS} tools`);
    delete result.nextCursor;
  }
  result.tools = result.tools.slice(0, room).filter((tool, n) => {
    const fault = mend(tool) ?? faultOf(tool as Partial<Tool> | null, sdk, isBefore2026(version));
    const { name } = isObject(tool) ? tool : {};
    const called = typeof name === 'string' ? name.slice(0, MAX_CALLED) : `number ${n + 1}`;
    if (fault !== undefined) warn(`its tool ${called} is left out: ${fault}`);
    return fault === undefined;
  });
  const { nextCursor } = result;
  if (nextCursor === undefined) return;
  const why = typeof nextCursor === 'string' ? walk.endsAt(nextCursor) : 'its cursor is no text';
  if (why === undefined) return;
  warn(`its list of tools is taken as far as it goes: ${why}`);
  delete result.nextCursor;
}

/** Why a tool cannot be looked at; undefined: it was, and is as it was meant. */
function mend(tool: unknown): string | undefined {
  if (!isObject(tool)) return undefined;
  // Before anything walks it: what an overflow of the stack throws, and where, is not the same each time.
  if (isNestedDeeper(tool, MAX_LEVELS)) return 'its schemas are nested too deeply';
  dropNulls(tool);
  for (const member of ['annotations', 'execution', '_meta']) if (isObject(tool[member])) dropNulls(tool[member]);
  mendSchema(tool.inputSchema);
  mendSchema(tool.outputSchema);
  return undefined;
}

function faultOf(tool: Partial<Tool> | null, { specTypeSchemas }: McpSdk, isOlder: boolean): string | undefined {
  const { issues } = specTypeSchemas.Tool['~standard'].validate(tool);
  const [first] = issues ?? [];
  if (!first) {
    const output = isOlder ? tool?.outputSchema : undefined;
    return output && output.type !== 'object' ? "outputSchema is no object's" : undefined;
  }
  return `${['it', ...(first.path ?? []).map(String)].join('.')}: ${first.message}`;
}

/** One of each: what a server has listed again, on another page, is the same tool. */
export function eachOnce(listed: readonly Tool[]): Tool[] {
  return [...new Map(listed.map((tool) => [canonicalJson(tool), tool])).values()];
}

/** Names that a server has given to more than one tool: which of them it would run cannot be told. */
export function namedTwice(listed: readonly Tool[]): Set<string> {
  const seen = new Set<string>();
  return new Set(listed.map(({ name }) => name).filter((name) => seen.has(name) || !seen.add(name)));
}
