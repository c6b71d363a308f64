import type { JsonSchema, ToolDescriptor } from '../../contracts/index.ts';
import { checkIs, guarded, having, object, oneOf } from '../../session/index.ts';
import { anthropicNames, toAnthropicSchema } from './anthropic.ts';
import { geminiNames, toGeminiSchema } from './gemini.ts';
import type { NameRules } from './names.ts';
import { aliasOf } from './names.ts';
import { openaiNames, toOpenAISchema } from './openai.ts';
import { fromStrictArgs, toStrictSchema } from './openai-strict.ts';

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

type Converted = Pick<DeclaredTool, 'schema' | 'strict'>;

interface DialectRow {
  readonly names: NameRules;
  convert(schema: JsonSchema): Converted;
  /** Converted once for each schema object: declarations are made for every request. */
  readonly converted: WeakMap<JsonSchema, Converted>;
}

const row = (names: NameRules, convert: DialectRow['convert']): DialectRow => ({
  names,
  convert,
  converted: new WeakMap(),
});
const loose = (to: (schema: JsonSchema) => JsonSchema | undefined) => (schema: JsonSchema) => ({
  schema: to(schema),
  strict: false,
});
const openai = loose(toOpenAISchema);

/** How each wants schemas and names: a new dialect is a row here. */
const DIALECTS = {
  openai: row(openaiNames, openai),
  /** As `openai` for the tools that strict mode cannot express. */
  'openai-strict': row(openaiNames, (schema) => {
    const strict = toStrictSchema(schema);
    return strict ? { schema: strict, strict: true } : openai(schema);
  }),
  anthropic: row(anthropicNames, loose(toAnthropicSchema)),
  gemini: row(geminiNames, loose(toGeminiSchema)),
  /** For whoever converts schemas again, for a provider that is not known here: JSON Schema, and names that all take. */
  'ai-sdk': row(geminiNames, openai),
} as const;

/** `openai-strict` falls back to `openai` for the tools that strict mode cannot express. */
export type SchemaDialect = keyof typeof DIALECTS;

const known = oneOf(...(Object.keys(DIALECTS) as SchemaDialect[]));

export function toDialect(schema: JsonSchema, dialect: SchemaDialect): Converted {
  checkIs(dialect, 'dialect', known);
  checkIs(schema, 'the schema of a tool', object);
  const { convert, converted } = DIALECTS[dialect];
  const cached = converted.get(schema);
  if (cached) return cached;
  const result = guarded('the schema of a tool', () => convert(schema));
  converted.set(schema, result);
  return result;
}

/** What a provider is told of the tools of one request, and the way back from what it answers. */
export function declareTools(tools: ReadonlyMap<string, ToolDescriptor>, dialect: SchemaDialect): Declarations {
  checkIs(dialect, 'dialect', known);
  checkIs(tools, 'tools', { needs: 'a map of descriptors by name', fits: having('entries', 'get').fits });
  const { names: rules } = DIALECTS[dialect];
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
