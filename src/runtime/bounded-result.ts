import type { ToolResult } from '../contracts/index.ts';
import { capResult } from '../gate/index.ts';
import type { Invocation } from './invocation.ts';

/**
 * A result as large as a model is given it, whoever made it; the whole is kept by the host, or as an artifact, where
 * there is somebody to keep it.
 * @param delta gets file name → version of what is kept as an artifact
 */
export function boundedResult(
  { engine }: Pick<Invocation, 'engine'>,
  callId: string,
  result: ToolResult,
  delta: Record<string, number> = {},
): ToolResult | Promise<ToolResult> {
  const { maxResultBytes: maxBytes, services } = engine;
  const spill =
    engine.spill ??
    (async (name: string, body: string | Uint8Array) => {
      const isText = typeof body === 'string';
      const mimeType = !isText
        ? 'application/octet-stream'
        : name.endsWith('.json')
          ? 'application/json'
          : 'text/plain';
      await services.artifacts(delta).save(name, { mimeType, data: isText ? Buffer.from(body) : body });
      return name;
    });
  return capResult(result, { callId, maxBytes, spill });
}
