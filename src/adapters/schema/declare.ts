import type { JsonSchema, ToolDescriptor } from '../../contracts/index.ts';
import { checkIs, guarded, having, object, oneOf } from '../../session/index.ts';
import { anthropicNames, toAnthropicSchema } from './anthropic.ts';
import { geminiNames, toGeminiSchema } from './gemini.ts';
import type { NameRules } from './names.ts';
import { aliasOf } from './names.ts';
import { openaiNames, toOpenAISchema } from './openai.ts';
import { fromStrictArgs, toStrictSchema } from './openai-strict.ts';

/** `openai-strict` falls back to `openai` for the tools that strict mode cannot express. */
export type SchemaDialect = 'openai' | 'openai-strict' | 'anthropic' | 'gemini';

export interface DeclaredTool {
  /** The provider's name of it. */
  alias: string;
  description: string;
  /** In the provider's dialect; absent where a tool without arguments has none (Gemini). */
  schema: JsonSchema | undefined;
  strict: boolean;
}

export interface Declarations {
  /** In the order of the tools given. */
  readonly tools: readonly DeclaredTool[];
  /** The provider's name of a tool, also of one that is no longer offered. */
  aliasOf(name: string): string;
  /** The tool that an alias stands for; a name that is nobody's alias comes back as it is. */
  nameOf(alias: string): string;
  /** Arguments as the tool's own schema means them. */
  argsOf(alias: string, args: unknown): unknown;
}

const names: Record<SchemaDialect, NameRules> = {
  openai: openaiNames,
  'openai-strict': openaiNames,
  anthropic: anthropicNames,
  gemini: geminiNames,
};

type Converted = Pick<DeclaredTool, 'schema' | 'strict'>;

/** Converted once for each schema object: declarations are made for every request. */
const converted: Record<SchemaDialect, WeakMap<JsonSchema, Converted>> = {
  openai: new WeakMap(),
  'openai-strict': new WeakMap(),
  anthropic: new WeakMap(),
  gemini: new WeakMap(),
};

const known = oneOf('openai', 'openai-strict', 'anthropic', 'gemini');

export function toDialect(schema: JsonSchema, dialect: SchemaDialect): Converted {
  checkIs(dialect, 'dialect', known);
  checkIs(schema, 'the schema of a tool', object);
  const cached = converted[dialect].get(schema);
  if (cached) return cached;
  const result = guarded('the schema of a tool', () => convert(schema, dialect));
  converted[dialect].set(schema, result);
  return result;
}

function convert(schema: JsonSchema, dialect: SchemaDialect): Converted {
  if (dialect === 'gemini') return { schema: toGeminiSchema(schema), strict: false };
  if (dialect === 'anthropic') return { schema: toAnthropicSchema(schema), strict: false };
  const strict = dialect === 'openai-strict' ? toStrictSchema(schema) : undefined;
  return strict ? { schema: strict, strict: true } : { schema: toOpenAISchema(schema), strict: false };
}

/** What a provider is told of the tools of one request, and the way back from what it answers. */
export function declareTools(tools: ReadonlyMap<string, ToolDescriptor>, dialect: SchemaDialect): Declarations {
  checkIs(dialect, 'dialect', known);
  checkIs(tools, 'tools', { needs: 'a map of descriptors by name', fits: having('entries', 'get').fits });
  const rules = names[dialect];
  const byAlias = new Map<string, { name: string; inputSchema: JsonSchema }>();
  const declared: DeclaredTool[] = [];
  for (const [name, { description, inputSchema }] of tools) {
    const alias = aliasOf(name, rules);
    byAlias.set(alias, { name, inputSchema });
    declared.push({ alias, description, ...toDialect(inputSchema, dialect) });
  }
  return {
    tools: declared,
    aliasOf: (name) => aliasOf(name, rules),
    nameOf: (alias) => byAlias.get(alias)?.name ?? alias,
    argsOf(alias, args) {
      const schema = byAlias.get(alias)?.inputSchema;
      return schema && toDialect(schema, dialect).strict ? fromStrictArgs(schema, args) : args;
    },
  };
}
