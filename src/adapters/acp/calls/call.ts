import type { ToolCall, ToolCallUpdate } from '@agentclientprotocol/sdk';
import type { ToolKind, ToolResult } from '../../../contracts/index.ts';
import { canonicalJson } from '../../../contracts/index.ts';
import { AcpOutput } from './output.ts';
import type { Subject } from './same-call.ts';
import { inputMembers, isSameCall, shownInputs } from './same-call.ts';
import type { Change } from './shown-changes.ts';
import { AllowedChanges, changesOf } from './shown-changes.ts';

const KINDS = new Set(['read', 'edit', 'delete', 'move', 'search', 'execute', 'fetch']);

/** What an agent says of one of its calls. */
export type ToldOfCall = (ToolCall | ToolCallUpdate) & { sessionUpdate?: string };

/** What a question shows. */
type Shown = Subject & { changes: readonly Change[] };

/** One of an agent's own tool calls, as far as it has told of it. */
export class AcpCall {
  readonly id: string;
  /** The agent has asked whether it may. */
  asked = false;
  /** It stands in the log. */
  recorded = false;
  readonly #volatile: ReadonlySet<string>;
  /** What it was when somebody said yes to it; undefined: nobody has. */
  #allowed: Shown | undefined;
  #changes: AllowedChanges | undefined;
  #told: Partial<ToolCall> = {};
  /** What the last question has shown: what is told while somebody thinks about it is no part of the yes. */
  #shown: Shown | undefined;
  readonly #output = new AcpOutput();
  readonly #final = Promise.withResolvers<ToolResult>();

  constructor(id: string, volatile: ReadonlySet<string>) {
    this.id = id;
    this.#volatile = volatile;
  }

  /** The same call, asked about once more: what was told of it still holds, what was allowed does not. */
  again(): AcpCall {
    const call = new AcpCall(this.id, this.#volatile);
    call.#told = { ...this.#told };
    return call;
  }

  /** What is told later replaces what was told before, field by field. */
  merge(update: ToldOfCall): void {
    const before = this.#told.content ?? [];
    this.#merge(update);
    // What is told of a call before it runs is what it would do, not what has come of it.
    const isAnnounced = update.sessionUpdate === 'tool_call' && !this.isOver;
    if (this.hasBegun && !isAnnounced) this.#output.take(update, before, this.isOver);
    if (this.isOver) this.#final.resolve(this.#output.result(this.status === 'failed'));
  }

  /**
   * A question: what it shows, and what was told before it, is what somebody decides about. False: it hides what was
   * said to have begun.
   */
  ask(question: ToldOfCall): boolean {
    const { hasBegun } = this;
    const announced = this.#told.rawInput;
    const call = { id: this.id, kind: question.kind ?? this.acpKind };
    const { shown, inputs, hides } = shownInputs(announced, question.rawInput ?? undefined, call, this.#volatile);
    this.#merge({ ...question, status: 'pending', ...(shown === undefined ? {} : { rawInput: shown }) });
    this.asked = true;
    this.#shown = { ...this.#subject, inputs, changes: changesOf(this.#told.content ?? []) };
    return !(hasBegun && hides);
  }

  get isAllowed(): boolean {
    return this.#allowed !== undefined;
  }

  allow(): void {
    this.#allowed = this.#shown;
    this.#changes = new AllowedChanges(this.#shown?.changes ?? []);
  }

  /** Why an agent that says it has begun this call may not have; undefined where it may. */
  get breach(): string | undefined {
    if (this.status === 'failed') return undefined;
    if (!this.#allowed) return 'was started without an approval';
    const isSame = isSameCall(this.#allowed, this.#subject, this.#volatile);
    return isSame ? undefined : 'is another call than the one that was allowed';
  }

  get hasBegun(): boolean {
    return this.status !== undefined && this.status !== 'pending';
  }

  get isOver(): boolean {
    return this.status === 'completed' || this.status === 'failed';
  }

  /** It has ended or returned something: whether it may is not asked any more. */
  get hasRun(): boolean {
    return this.isOver || this.#output.isThere;
  }

  #merge(update: ToldOfCall): void {
    const told = Object.entries(update).filter(([, value]) => value !== null && value !== undefined);
    this.#told = { ...this.#told, ...Object.fromEntries(told) };
  }

  get #subject(): Subject {
    const { rawInput, title, content = [] } = this.#told;
    return { id: this.id, kind: this.acpKind, title, inputs: rawInput === undefined ? [] : [rawInput], content };
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

  /**
   * The raw input, with the title, the places and the changes where the agent has told them beside it: those are what its
   * calls and files are held to. What the input calls the same stands apart, and takes the place of none of them.
   */
  get args(): Record<string, unknown> {
    const { title, locations = [], content = [], rawInput } = this.#told;
    const changes = changesOf(content);
    const told: Record<string, unknown> = {
      ...(title === undefined ? {} : { title }),
      ...(locations.length === 0 ? {} : { paths: locations.map(({ path }) => path) }),
      ...(changes.length === 0 ? {} : { changes }),
    };
    const raw = inputMembers(rawInput);
    if (!raw) return rawInput === undefined ? told : { ...told, input: rawInput };
    const isOther = ([name, value]: [string, unknown]) =>
      Object.hasOwn(told, name) && canonicalJson(value) !== canonicalJson(told[name]);
    const members = Object.entries(raw);
    const others = members.filter(isOther);
    const args = { ...told, ...Object.fromEntries(members.filter((member) => !isOther(member))) };
    return others.length === 0 ? args : { ...args, [freeName(args)]: Object.fromEntries(others) };
  }

  /** Whoever said yes to it has seen a change of this file, which was not made yet. */
  hasShown(path: string): boolean {
    return this.#changes?.has(path) ?? false;
  }

  /** A write that is what a change that was shown makes of the file: each is made once. */
  takeWrite({ path, content }: { path: string; content: string }, current: string | undefined): boolean {
    return this.#changes?.take(path, content, current) ?? false;
  }
}

function freeName(args: object): string {
  let name = 'input';
  while (Object.hasOwn(args, name)) name = `raw_${name}`;
  return name;
}
