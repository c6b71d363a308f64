import type { AnyAgentTool } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { checkIs, guarded, having, iterable, object, oneOf } from '../../session/index.ts';
import { Tool } from './tool.ts';

/** What to do with a tool whose name is taken. */
export type Collision = 'throw' | 'replace' | 'keep';

/** Tools by name, in the order in which they came. One for each turn: pipelines may add and remove. */
export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();

  /** @throws CoxswainError `ALREADY_EXISTS / E_TOOL_ALREADY_REGISTERED` */
  constructor(tools: Iterable<Tool | AnyAgentTool> = []) {
    checkIs(tools, 'ToolRegistry: tools', iterable);
    for (const tool of tools) this.register(tool);
  }

  get size(): number {
    return this.#tools.size;
  }

  all(): Tool[] {
    return [...this.#tools.values()];
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  has(name: string): boolean {
    return this.#tools.has(name);
  }

  /** @throws CoxswainError `ALREADY_EXISTS / E_TOOL_ALREADY_REGISTERED` if the name is taken and `collision` is `throw` */
  register(tool: Tool | AnyAgentTool, collision: Collision = 'throw'): this {
    checkIs(tool, 'register: tool', object);
    checkIs(collision, 'register: collision', oneOf('throw', 'replace', 'keep'));
    const made = guarded('register: tool', () => tool instanceof Tool)
      ? (tool as Tool)
      : Tool.from(tool as AnyAgentTool);
    const taken = this.#tools.has(made.name);
    if (taken && collision === 'keep') return this;
    if (taken && collision === 'throw') {
      throw new CoxswainError('ALREADY_EXISTS', 'E_TOOL_ALREADY_REGISTERED', `there is a tool named ${made.name}`);
    }
    this.#tools.set(made.name, made);
    return this;
  }

  unregister(name: string): boolean {
    return this.#tools.delete(name);
  }

  /**
   * Takes in another registry's tools: all or, where one is refused, none.
   * @throws CoxswainError `ALREADY_EXISTS / E_TOOL_ALREADY_REGISTERED`
   */
  merge(other: ToolRegistry, collision: Collision = 'throw'): this {
    checkIs(other, 'merge: registry', { needs: 'a ToolRegistry', fits: having('all').fits });
    const taken = collision === 'throw' ? other.all().filter(({ name }) => this.has(name)) : [];
    if (taken.length > 0) {
      const names = taken.map(({ name }) => name).join(', ');
      throw new CoxswainError('ALREADY_EXISTS', 'E_TOOL_ALREADY_REGISTERED', `there are tools named ${names}`);
    }
    for (const tool of other.all()) this.register(tool, collision);
    return this;
  }
}
