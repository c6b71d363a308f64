import type { AnyTool, ProvidedTool, ToolDescriptor, ToolProvider } from '../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import { describeTool, providedTool } from '../../gate/index.ts';
import { bag, checkIs, listOf } from '../../session/index.ts';
import { OfferedNames } from './look-alike.ts';

export interface HostTool {
  readonly descriptor: ToolDescriptor;
  readonly tool: AnyTool;
  readonly source: string;
}

export interface Offer {
  tools: ReadonlyMap<string, HostTool>;
  descriptors: readonly ToolDescriptor[];
}

/** A server that names its tools anew each time is not told of for ever. */
const MAX_TOLD = 1_000;

/** The tools that a host runs, by name. */
export class HostToolRegistry {
  readonly #own = new Map<string, HostTool>();
  readonly #ownNames = new OfferedNames();
  readonly #providers: readonly ToolProvider[];
  readonly #descriptors: readonly ToolDescriptor[];
  readonly #warn: (message: string) => void;
  /** What was made of a provider's tools is not made again for each session. By agent. */
  readonly #last = new Map<string, { given: readonly (readonly ProvidedTool[])[]; offer: Offer }>();
  /** What was told already: tools are looked up for each session. */
  readonly #told = new Set<string>();

  /** @throws CoxswainError `INVALID_ARGUMENT / E_DUPLICATE_TOOL | E_SCHEMA` */
  constructor(tools: readonly AnyTool[], providers: readonly ToolProvider[], warn: (message: string) => void) {
    this.#providers = providers;
    this.#warn = warn;
    for (const tool of tools) this.#add(tool);
    this.#descriptors = [...this.#own.values()].map((tool) => tool.descriptor);
  }

  /**
   * What one agent is offered. The same map and list as long as the providers give the same objects. A provider's tool
   * that has the name of one that is there already, or is ill-formed, is left out with a warning: a foreign server must
   * not decide whether sessions open, and takes nobody's place.
   */
  async forAgent(agent: string): Promise<Offer> {
    if (this.#providers.length === 0) return { tools: this.#own, descriptors: this.#descriptors };
    // One that is slow holds up nobody but whoever waits for all of them.
    const given = await Promise.all(
      this.#providers.map(async (provider): Promise<readonly ProvidedTool[]> => {
        const tools = await provider.getToolsForAgent(agent);
        // Its own copy: the provider may add to what it has given.
        return Array.isArray(tools) ? [...tools] : tools;
      }),
    );
    const last = this.#last.get(agent);
    if (last && isSame(last.given, given)) return last.offer;
    const tools = new Map(this.#own);
    const names = new OfferedNames(this.#ownNames);
    for (const [at, provider] of this.#providers.entries()) {
      checkIs(given[at], `tool provider ${provider.name}: what getToolsForAgent() gave`, listOf(bag));
      for (const provided of given[at] ?? []) this.#offer(tools, names, provider, provided);
    }
    const offer = { tools, descriptors: [...tools.values()].map((tool) => tool.descriptor) };
    this.#last.set(agent, { given, offer });
    return offer;
  }

  #offer(map: Map<string, HostTool>, names: OfferedNames, provider: ToolProvider, provided: ProvidedTool): void {
    const source = sourceOf(provider);
    const other = map.get(provided.name);
    if (other) {
      this.#leaveOut(source, provided.name, `there is one of that name already, of ${other.source}`);
      return;
    }
    try {
      const tool = providedTool(provider, provided);
      map.set(tool.name, { descriptor: describeTool(tool), tool, source });
      this.#look(source, tool, names);
    } catch (error) {
      this.#leaveOut(source, String(provided.name), messageOf(error));
    }
  }

  #leaveOut(source: string, name: string, why: string): void {
    this.#tell(`${source}: its tool ${name} is left out: ${why}`);
  }

  /** A name or a title that reads like another one: rules and people may mean that one. */
  #look(source: string, { name, displayName }: AnyTool, names: OfferedNames): void {
    for (const why of names.add({ name, title: displayName, source })) this.#tell(`${source}: ${why}`);
  }

  #tell(text: string): void {
    if (this.#told.size < MAX_TOLD && !this.#told.has(text)) this.#warn(text);
    this.#told.add(text);
  }

  #add(tool: AnyTool): void {
    const descriptor = describeTool(tool);
    if (this.#own.has(tool.name)) {
      throw new CoxswainError('INVALID_ARGUMENT', 'E_DUPLICATE_TOOL', `the host has two tools named ${tool.name}`);
    }
    this.#own.set(tool.name, { descriptor, tool, source: 'host' });
    this.#look('host', tool, this.#ownNames);
  }
}

/** Whether the same objects were given, in the same order. */
function isSame(one: readonly (readonly ProvidedTool[])[], other: readonly (readonly ProvidedTool[])[]): boolean {
  return one.every((tools, at) => {
    const others: unknown = other[at];
    return (
      Array.isArray(others) && tools.length === others.length && tools.every((tool, place) => tool === others[place])
    );
  });
}

/** A foreign server stays one whoever hands its tools on: policy takes its annotations for claims. */
function sourceOf({ name, source }: ToolProvider): string {
  return source ?? (name.startsWith('mcp:') ? name : `provider:${name}`);
}
