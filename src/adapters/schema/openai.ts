import type { JsonSchema } from '../../contracts/index.ts';
import type { NameRules } from './names.ts';
import { isSchema } from './node.ts';
import { withObjectRoot } from './object-root.ts';

export const openaiNames: NameRules = { legal: /^[a-zA-Z0-9_-]+$/, maxLength: 64 };

/** JSON Schema as OpenAI takes it without strict mode: an object at the root, and every array says what it holds. */
export function toOpenAISchema(schema: JsonSchema): JsonSchema {
  return withItems(withObjectRoot(schema)) as JsonSchema;
}

const dataKeys = new Set(['default', 'enum', 'const', 'examples', 'example']);

function withItems(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withItems);
  if (!isSchema(value)) return value;
  const copy: JsonSchema = {};
  for (const [key, member] of Object.entries(value)) copy[key] = dataKeys.has(key) ? member : withItems(member);
  delete copy.$schema;
  const holdsArray = copy.type === 'array' || (Array.isArray(copy.type) && copy.type.includes('array'));
  if (holdsArray && !isSchema(copy.items)) copy.items = {};
  return copy;
}
