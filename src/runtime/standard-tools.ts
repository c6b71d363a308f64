import type { AnyTool } from '../contracts/index.ts';
import { defineTool } from '../contracts/index.ts';

/** Lets a model end the loop that its agent is in. */
export function exitLoopTool(): AnyTool {
  return defineTool({
    name: 'exit_loop',
    description: 'Ends the loop. Call it only when the work is done.',
    inputSchema: { type: 'object', properties: {} },
    annotations: { idempotent: true },
    execute(_, context) {
      context.escalate();
      return { done: true };
    },
  });
}

/** Lets a model search what is remembered of earlier sessions. */
export function loadMemoryTool(): AnyTool {
  return defineTool({
    name: 'load_memory',
    description: 'Searches the memory of earlier conversations with this user.',
    inputSchema: {
      type: 'object',
      properties: { query: { type: 'string', description: 'Words to look for.' } },
      required: ['query'],
    },
    kind: 'search',
    annotations: { readOnly: true },
    execute: async ({ query }, context) => ({ memories: await context.searchMemory(String(query)) }),
  });
}

/** Lets a model read artifacts; without names it learns which there are. */
export function loadArtifactsTool(): AnyTool {
  return defineTool({
    name: 'load_artifacts',
    description: 'Loads artifacts by name. Without names: lists them.',
    inputSchema: {
      type: 'object',
      properties: { names: { type: 'array', items: { type: 'string' } } },
    },
    kind: 'read',
    annotations: { readOnly: true },
    async execute({ names }, context) {
      const wanted = Array.isArray(names) ? names.map(String) : [];
      if (wanted.length === 0) return { artifacts: await context.artifacts.list() };
      const missing: string[] = [];
      const content: { type: string; [key: string]: unknown }[] = [];
      for (const name of wanted) {
        const artifact = await context.artifacts.load(name);
        if (!artifact) {
          missing.push(name);
          continue;
        }
        content.push({ type: 'text', text: `${name} (version ${artifact.version}, ${artifact.mimeType}):` });
        if (artifact.mimeType.startsWith('text/') || artifact.mimeType === 'application/json') {
          content.push({ type: 'text', text: Buffer.from(artifact.data, 'base64').toString('utf8') });
        } else content.push({ type: 'media', mimeType: artifact.mimeType, data: artifact.data });
      }
      if (missing.length > 0) content.push({ type: 'text', text: `There is no artifact ${missing.join(', ')}.` });
      return { content };
    },
  });
}
