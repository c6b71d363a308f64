import type { AnyTool, ToolDescriptor, ToolProvider } from '../contracts/index.ts';
import { CoxswainError } from '../contracts/index.ts';
import { describeTool, providedTool } from '../gate/index.ts';
import { bag, checkIs, listOf } from '../session/index.ts';

export interface HostTool {
  readonly descriptor: ToolDescriptor;
  readonly tool: AnyTool;
  readonly source: string;
}

/** The tools that a host runs, by name. */
export class ToolRegistry {
  readonly #own = new Map<string, HostTool>();
  readonly #providers: readonly ToolProvider[];
  readonly #descriptors: readonly ToolDescriptor[];

  /** @throws CoxswainError `INVALID_ARGUMENT / E_DUPLICATE_TOOL | E_SCHEMA` */
  constructor(tools: readonly AnyTool[], providers: readonly ToolProvider[] = []) {
    for (const tool of tools) this.#add(this.#own, tool, 'host');
    this.#providers = providers;
    this.#descriptors = [...this.#own.values()].map((tool) => tool.descriptor);
  }

  /** What one agent is offered. The same map and list as long as nothing changes. */
  async forAgent(
    agent: string,
  ): Promise<{ tools: ReadonlyMap<string, HostTool>; descriptors: readonly ToolDescriptor[] }> {
    if (this.#providers.length === 0) return { tools: this.#own, descriptors: this.#descriptors };
    const tools = new Map(this.#own);
    for (const provider of this.#providers) {
      const given = await provider.getToolsForAgent(agent);
      checkIs(given, `tool provider ${provider.name}: what getToolsForAgent() gave`, listOf(bag));
      for (const descriptor of given) {
        this.#add(tools, providedTool(provider, descriptor), sourceOf(provider));
      }
    }
    return { tools, descriptors: [...tools.values()].map((tool) => tool.descriptor) };
  }

  #add(map: Map<string, HostTool>, tool: AnyTool, source: string): void {
    const descriptor = describeTool(tool);
    const other = map.get(tool.name);
    if (other) {
      throw new CoxswainError(
        'INVALID_ARGUMENT',
        'E_DUPLICATE_TOOL',
        `two tools are named ${tool.name}: one of ${other.source}, one of ${source}`,
      );
    }
    map.set(tool.name, { descriptor, tool, source });
  }
}

/** A foreign server stays one whoever hands its tools on: policy takes its annotations for claims. */
function sourceOf({ name }: ToolProvider): string {
  return name.startsWith('mcp:') ? name : `provider:${name}`;
}
