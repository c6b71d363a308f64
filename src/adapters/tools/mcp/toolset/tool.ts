import { createHash } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/client';
import type {
  AnyTool,
  DisplayContent,
  JsonSchema,
  ToolAnnotations,
  ToolCallContext,
  ToolReturn,
} from '../../../../contracts/index.ts';
import { canonicalJson } from '../../../../contracts/index.ts';
import { visible } from '../../../../session/index.ts';
import type { McpToolsetOptions } from '../wire/index.ts';

export type ServerCall = (
  tool: string,
  args: Record<string, unknown>,
  context: Pick<ToolCallContext, 'signal' | 'progress' | 'elicit'>,
  /** Digest of the definition that the call was decided on. */
  judged: string,
) => Promise<ToolReturn>;

/** What a server says of a tool, to people and models, as one value: another one is another tool, whatever its name. */
export function definitionDigest({ name, title, description, inputSchema, outputSchema, annotations }: Tool): string {
  const definition = {
    name,
    title: title ?? '',
    description: description ?? '',
    inputSchema,
    outputSchema: outputSchema ?? {},
    annotations: annotations ?? {},
  };
  return createHash('sha256').update(canonicalJson(definition)).digest('hex');
}

/** What a tool needs of its server. */
export interface Server {
  readonly name: string;
  readonly options: McpToolsetOptions;
  /** Digest of the definition that was last run, or first seen. */
  pinned(tool: string): string | undefined;
  /** Digest of the definition that was pinned when this toolset first listed it. */
  firstSeen(tool: string): string | undefined;
  /** What the server says of a tool now; undefined: it has none of that name. */
  now(tool: string): Promise<{ definition: Tool; digest: string } | undefined>;
  call: ServerCall;
}

const DEFINITION = 'definition sha256:';

/** The digest of the definition that somebody was shown with the question whether a call may run. */
export function digestShown(preview: readonly DisplayContent[] = []): string | undefined {
  const last = preview.at(-1);
  return last?.type === 'text' && last.text.startsWith(DEFINITION) ? last.text.slice(DEFINITION.length) : undefined;
}

/** A server's tool under the gate. `shown`: digest of it as the server defines it. */
export function asTool(tool: Tool, shown: string, server: Server): AnyTool {
  const { options } = server;
  return {
    name: `${options.prefix ?? ''}${tool.name}`,
    description: tool.description ?? '',
    inputSchema: tool.inputSchema as JsonSchema,
    annotations: annotationsOf(tool, options.trustAnnotations ?? false),
    _meta: { 'mcp/server': server.name, ...(tool.annotations ? { 'mcp/annotations': { ...tool.annotations } } : {}) },
    // It is given up after a time without a sign of life, however long it takes.
    timeoutMs: 0,
    ...(tool.title === undefined ? {} : { displayName: tool.title }),
    ...(tool.outputSchema ? { outputSchema: tool.outputSchema as JsonSchema } : {}),
    // The model has read another definition than the one that would run, or policy's yes was to another one.
    needsApproval: async () => {
      const now = await server.now(tool.name);
      return now !== undefined && (now.digest !== shown || now.digest !== server.pinned(tool.name));
    },
    // What it says of itself is part of what is approved: if it changes before the call runs, the yes is void.
    preview: async (args: Record<string, unknown>) => {
      const { definition, digest } = (await server.now(tool.name)) ?? { definition: tool, digest: shown };
      const { title, description = '' } = definition;
      return [
        ...(digest === server.firstSeen(tool.name)
          ? []
          : [`${server.name} has changed what ${tool.name} is. It says now:`]),
        `${server.name} · ${tool.name}${title === undefined ? '' : ` (${oneLine(title)})`}: ${description}`,
        JSON.stringify(args, null, 2),
        `${DEFINITION}${digest}`,
        // What a server says of itself, and what a model has written, are shown to whoever decides.
      ].map((text) => ({ type: 'text' as const, text: visible(text) }));
    },
    execute: (args: Record<string, unknown>, context: ToolCallContext) => server.call(tool.name, args, context, shown),
  };
}

/** A title that has several lines would look like what the host says. */
const oneLine = (title: string): string => title.replaceAll(/\s+/g, ' ').trim();

function annotationsOf({ annotations }: Tool, isTrusted: boolean): ToolAnnotations {
  const destructive = annotations?.destructiveHint === true && annotations.readOnlyHint !== true;
  if (!isTrusted) return { readOnly: false, ...(destructive ? { destructive } : {}) };
  return {
    readOnly: annotations?.readOnlyHint === true,
    ...(annotations?.idempotentHint === undefined ? {} : { idempotent: annotations.idempotentHint }),
    ...(destructive ? { destructive } : {}),
  };
}
