import type { JsonSchema } from '../../contracts/index.ts';
import { bag, checkIs } from '../../session/index.ts';
import type { NameRules } from './names.ts';
import { isSchema, mapSchema, typesOf } from './node.ts';
import { withObjectRoot } from './object-root.ts';

export const openaiNames: NameRules = { legal: /^[a-zA-Z0-9_-]+$/, maxLength: 64 };

/** JSON Schema as OpenAI takes it without strict mode: an object at the root, and every array says what it holds. */
export function toOpenAISchema(schema: JsonSchema): JsonSchema {
  checkIs(schema, 'toOpenAISchema: schema', bag);
  return mapSchema(withObjectRoot(schema), ({ $schema: _schema, ...node }) =>
    typesOf(node).includes('array') && !isSchema(node.items) ? { ...node, items: {} } : node,
  );
}
