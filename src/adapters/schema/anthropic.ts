import type { JsonSchema } from '../../contracts/index.ts';
import type { NameRules } from './names.ts';
import { withObjectRoot } from './object-root.ts';

export const anthropicNames: NameRules = { legal: /^[a-zA-Z0-9_-]+$/, maxLength: 64 };

/** Anthropic reads JSON Schema 2020-12 as it is, but wants an object at the root. */
export function toAnthropicSchema(schema: JsonSchema): JsonSchema {
  return withObjectRoot(schema);
}
