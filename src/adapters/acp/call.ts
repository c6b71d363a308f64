import type { ToolCall, ToolCallUpdate } from '@agentclientprotocol/sdk';
import type { ToolKind, ToolResult } from '../../contracts/index.ts';
import { canonicalJson } from '../../contracts/index.ts';
import { diffOf, resultOf } from './content.ts';

const KINDS = new Set(['read', 'edit', 'delete', 'move', 'search', 'execute', 'fetch']);

/** One of an agent's own tool calls, as far as it has told of it. */
export class AcpCall {
  readonly id: string;
  /** The agent has asked whether it may. */
  asked = false;
  /** It stands in the log. */
  recorded = false;
  /** What it was when somebody said yes to it; undefined: nobody has. */
  #allowed: { kind: string; input: string | undefined } | undefined;
  #told: Partial<ToolCall> = {};
  readonly #final = Promise.withResolvers<ToolResult>();

  constructor(id: string) {
    this.id = id;
  }

  /** What is told later replaces what was told before, field by field. */
  merge(update: ToolCall | ToolCallUpdate): void {
    const told = Object.entries(update).filter(([, value]) => value !== null && value !== undefined);
    this.#told = { ...this.#told, ...Object.fromEntries(told) };
    const { status } = this.#told;
    if (this.isOver) this.#final.resolve(this.#result(status === 'failed'));
  }

  allow(): void {
    this.#allowed = this.#subject;
  }

  /** Why an agent that says it has begun this call may not have; undefined where it may. */
  get breach(): string | undefined {
    if (this.status === 'failed') return undefined;
    if (!this.#allowed) return 'was begun without a yes';
    const { kind, input } = this.#subject;
    const isSame = kind === this.#allowed.kind && [input, undefined].includes(this.#allowed.input);
    return isSame ? undefined : 'is another call than the one that was allowed';
  }

  get isOver(): boolean {
    return this.status === 'completed' || this.status === 'failed';
  }

  get #subject(): { kind: string; input: string | undefined } {
    const { rawInput } = this.#told;
    return { kind: this.acpKind, input: rawInput === undefined ? undefined : canonicalJson(rawInput) };
  }

  /** Resolves when the agent has said how it ended, or that it never will. */
  get final(): Promise<ToolResult> {
    return this.#final.promise;
  }

  settle(result: ToolResult): void {
    this.#final.resolve(result);
  }

  get status(): ToolCall['status'] {
    return this.#told.status;
  }

  get title(): string {
    return this.#told.title ?? this.name;
  }

  /**
   * What policies know it by: `acp:` and the tool's own name where the agent tells it, else the kind of work. The
   * prefix keeps it apart from the host's own tools.
   */
  get name(): string {
    const { name, kind } = this.#told;
    return `acp:${(name ?? kind ?? 'other').replaceAll(/[^\w.$/-]/g, '_').slice(0, 120)}`;
  }

  /** As the protocol has it. */
  get acpKind(): string {
    return this.#told.kind ?? 'other';
  }

  get kind(): ToolKind {
    return KINDS.has(this.acpKind) ? (this.acpKind as ToolKind) : 'other';
  }

  /** The raw input, with the title, the places and the changes where the agent has told them beside it. */
  get args(): Record<string, unknown> {
    const { title, locations = [], content = [], rawInput } = this.#told;
    const changes = content.flatMap((block) => (block.type === 'diff' ? [diffOf(block)] : []));
    const raw = typeof rawInput === 'object' && rawInput !== null && !Array.isArray(rawInput) ? rawInput : undefined;
    return {
      ...(title === undefined ? {} : { title }),
      ...(locations.length === 0 ? {} : { paths: locations.map(({ path }) => path) }),
      ...(changes.length === 0 ? {} : { changes: changes.map(({ type: _, ...change }) => change) }),
      ...(raw ?? (rawInput === undefined ? {} : { input: rawInput })),
    };
  }

  /** Files that it has said it would write. */
  touches(path: string): boolean {
    const { locations = [], content = [] } = this.#told;
    return (
      locations.some((place) => place.path === path) || content.some((it) => it.type === 'diff' && it.path === path)
    );
  }

  #result(isError: boolean): ToolResult {
    const { content, display } = resultOf(this.#told.content ?? []);
    const { rawOutput } = this.#told;
    if (content.length === 0 && rawOutput !== undefined) {
      content.push({ type: 'text', text: typeof rawOutput === 'string' ? rawOutput : JSON.stringify(rawOutput) });
    }
    return {
      content,
      ...(display.length === 0 ? {} : { display }),
      ...(isError ? { isError: true, errorType: 'failed' } : {}),
    };
  }
}
