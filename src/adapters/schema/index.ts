/** Tool schemas and names in each provider's dialect. */
export { anthropicNames, toAnthropicOutput, toAnthropicSchema } from './anthropic.ts';
export type { Declarations, DeclaredTool, SchemaDialect } from './declare.ts';
export { declareTools, toDialect } from './declare.ts';
export { geminiNames, toGeminiSchema } from './gemini.ts';
export type { NameRules } from './names.ts';
export { aliasOf } from './names.ts';
export { openaiNames, toOpenAISchema } from './openai.ts';
export type { StrictOptions } from './openai-strict.ts';
export { fromStrictArgs, toStrictSchema } from './openai-strict.ts';
