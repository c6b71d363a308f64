import type { Bus, Dispatcher } from '../../src/contracts/index.ts';
import type { AgentHost } from '../../src/index.ts';
import { allowAll, createHost, defineTool, LlmAgent } from '../../src/index.ts';
import type { SessionService } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

/** Answers like a model that thinks for a while: a call of a tool, then words. */
class SlowModel extends ScriptedModel {
  readonly #ms: number;

  constructor(ms: number) {
    super([]);
    this.#ms = ms;
  }

  override async *generate(...[request, options]: Parameters<ScriptedModel['generate']>) {
    const parts = request.contents.flatMap((content) => content.parts);
    const asked = parts.findLastIndex(({ type }) => type === 'text');
    const isFirst = !parts.slice(asked).some(({ type }) => type === 'function_response');
    await new Promise((resolve) => setTimeout(resolve, this.#ms));
    const script = isFirst ? { calls: [['look', {}]] as [string, object][] } : 'The order is on its way.';
    yield* new ScriptedModel([script as 'done']).generate(request, options);
  }
}

export function loadHost(
  store: SessionService,
  parts: { dispatcher: Dispatcher; bus?: Bus; warn: (message: string, error?: unknown) => void },
  modelMs: number,
): AgentHost {
  const look = defineTool({
    name: 'look',
    description: 'Looks an order up.',
    inputSchema: { type: 'object', properties: {} } as const,
    annotations: { readOnly: true, idempotent: true },
    execute: () => 'it is packed',
  });
  const agents = [new LlmAgent({ name: 'clerk', model: new SlowModel(modelMs) })];
  return createHost({ app: 'shop', agents, tools: [look], policy: allowAll(), store, ...parts });
}
