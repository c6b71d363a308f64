import type { DispatchContext } from '../../dispatch/index.ts';
import type { AdkModule, AdkTool } from './types.ts';

/** The host's tools as the package's: offered to the model, run through the gate. */
export function hostToolsOf(adk: AdkModule, ctx: DispatchContext): AdkTool[] {
  const Base = adk.BaseTool as new (params: { name: string; description: string }) => AdkTool;
  class HostTool extends Base {
    readonly #schema: unknown;

    constructor(name: string, description: string, schema: unknown) {
      super({ name, description });
      this.#schema = schema;
    }

    override _getDeclaration() {
      return { name: this.name, description: this.description, parametersJsonSchema: this.#schema };
    }

    /** Never reached: the plugin answers before. */
    override async runAsync(): Promise<unknown> {
      return { error: 'the host runs it' };
    }
  }
  return ctx.tools.all().map((tool) => new HostTool(tool.name, tool.description, tool.describe().inputSchema));
}
