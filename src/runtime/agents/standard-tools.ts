import type { AnyAgentTool, ArtifactAccess } from '../../contracts/index.ts';
import { defineAgentTool, isCoxswainError } from '../../contracts/index.ts';

/** Lets a model end the loop that its agent is in. */
export function exitLoopTool(): AnyAgentTool {
  return defineAgentTool({
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
export function loadMemoryTool(): AnyAgentTool {
  return defineAgentTool({
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

/** Characters of one text artifact that a model is given. */
export const MAX_ARTIFACT_TEXT = 256 * 1024;

/**
 * Lets a model read artifacts; without names it learns which there are. Text is given as text, as far as its first
 * 262,144 characters; anything else as media.
 */
export function loadArtifactsTool(): AnyAgentTool {
  return defineAgentTool({
    name: 'load_artifacts',
    description: 'Loads artifacts by name. Without names: lists them.',
    inputSchema: {
      type: 'object',
      properties: { names: { type: 'array', items: { type: 'string' } } },
    },
    kind: 'read',
    annotations: { readOnly: true },
    async execute({ names }, context) {
      const wanted = new Set(Array.isArray(names) ? names.map(String) : []);
      if (wanted.size === 0) return { artifacts: await context.artifacts.list() };
      const missing: string[] = [];
      const content: { type: string; [key: string]: unknown }[] = [];
      for (const name of wanted) {
        const artifact = await found(context.artifacts, name);
        if (!artifact) {
          missing.push(name);
          continue;
        }
        content.push({ type: 'text', text: `${name} (version ${artifact.version}, ${artifact.mimeType}):` });
        if (isText(artifact.mimeType))
          content.push(...textParts(Buffer.from(artifact.data, 'base64').toString('utf8')));
        else content.push({ type: 'media', mimeType: artifact.mimeType, data: artifact.data });
      }
      if (missing.length > 0) content.push({ type: 'text', text: `There is no artifact ${missing.join(', ')}.` });
      return { content };
    },
  });
}

/** What cannot be a name is no artifact's: a model that guesses still gets the others. */
async function found(artifacts: ArtifactAccess, name: string): Promise<Awaited<ReturnType<ArtifactAccess['load']>>> {
  try {
    return await artifacts.load(name);
  } catch (error) {
    if (isCoxswainError(error) && error.code === 'E_ID') return undefined;
    throw error;
  }
}

const textTypes =
  /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|toml|javascript|typescript|sql)$|.*\+(?:json|xml|yaml)$)/;

function isText(mimeType: string): boolean {
  const [type = ''] = mimeType.toLowerCase().split(';');
  return textTypes.test(type.trim());
}

function textParts(text: string): { type: 'text'; text: string }[] {
  if (text.length <= MAX_ARTIFACT_TEXT) return [{ type: 'text', text }];
  // Not half of a character.
  const end = MAX_ARTIFACT_TEXT - (/[\ud800-\udbff]/.test(text.charAt(MAX_ARTIFACT_TEXT - 1)) ? 1 : 0);
  const note = `(These are the first ${end} of its ${text.length} characters.)`;
  return [
    { type: 'text', text: text.slice(0, end) },
    { type: 'text', text: note },
  ];
}
