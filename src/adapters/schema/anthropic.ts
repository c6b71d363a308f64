import type { JsonSchema } from '../../contracts/index.ts';
import { bag, checkIs } from '../../session/index.ts';
import type { NameRules } from './names.ts';
import { isSchema, namesIn, schemaMembers, schemasIn, typesOf } from './node.ts';
import { withObjectRoot } from './object-root.ts';

export const anthropicNames: NameRules = { legal: /^[a-zA-Z0-9_-]+$/, maxLength: 64 };

/** Anthropic reads JSON Schema 2020-12 as it is, but wants an object at the root. */
export function toAnthropicSchema(schema: JsonSchema): JsonSchema {
  checkIs(schema, 'toAnthropicSchema: schema', bag);
  return withObjectRoot(schema);
}

/** Keywords that the format of an answer may have; the rest is enforced locally. */
const kept = ['type', 'title', 'description', 'enum', 'const', '$ref'];
const formats = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'];

/**
 * The schema as the format of an answer: every object closed, no limits on numbers or lengths. Undefined where that
 * cannot say it: records and open objects.
 */
export function toAnthropicOutput(schema: JsonSchema): JsonSchema | undefined {
  checkIs(schema, 'toAnthropicOutput: schema', bag);
  const closed = close(schema);
  if (!closed) return undefined;
  for (const key of ['$defs', 'definitions']) {
    if (!isSchema(schema[key])) continue;
    const definitions = closeAll(schemaMembers(schema[key]));
    if (!definitions) return undefined;
    closed[key] = definitions;
  }
  return closed;
}

function close(node: JsonSchema): JsonSchema | undefined {
  if (node.patternProperties || node.prefixItems || node.not) return undefined;
  const out: JsonSchema = {};
  for (const key of kept) if (node[key] !== undefined) out[key] = node[key];
  if (typeof node.format === 'string' && formats.includes(node.format)) out.format = node.format;
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    if (!Array.isArray(node[key])) continue;
    const branches = schemasIn(node[key]).map(close);
    if (branches.some((branch) => branch === undefined)) return undefined;
    out[key === 'allOf' ? 'allOf' : 'anyOf'] = branches;
  }
  if (isSchema(node.items)) {
    const items = close(node.items);
    if (!items) return undefined;
    out.items = items;
  }
  if (!typesOf(node).includes('object')) return out;
  const open = node.additionalProperties;
  const members = schemaMembers(node.properties);
  if ((open !== undefined && open !== false) || (members.length === 0 && open === undefined)) return undefined;
  const properties = closeAll(members);
  if (!properties) return undefined;
  out.properties = properties;
  if (namesIn(node.required).length > 0) out.required = node.required;
  out.additionalProperties = false;
  return out;
}

function closeAll(members: readonly [string, JsonSchema][]): Record<string, JsonSchema> | undefined {
  const closed: [string, JsonSchema][] = [];
  for (const [name, member] of members) {
    const result = close(member);
    if (!result) return undefined;
    closed.push([name, result]);
  }
  return Object.fromEntries(closed);
}
