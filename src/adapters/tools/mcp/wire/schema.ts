import { isObject } from '../../../../base/index.ts';
import type { Members } from './nulls.ts';

const single = ['items', 'additionalProperties', 'contains', 'if', 'then', 'else', 'not', 'propertyNames'];
const lists = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'];
const maps = ['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'];
/** What null is a value of. */
const data = new Set(['const', 'default', 'enum', 'examples']);

/**
 * Makes of a tool's schema what was meant, where it is no JSON Schema by a slip that many generators make: null or an
 * empty list for what is absent, `required` said at the member or twice, the type `any`, an empty `enum`, a pattern of
 * another dialect. What is left of it only asks for less: the server checks its arguments itself. In place.
 */
export function mendSchema(node: unknown): void {
  if (!isObject(node)) return;
  for (const [keyword, value] of Object.entries(node)) if (value === null && !data.has(keyword)) delete node[keyword];
  // PHP writes an empty object so.
  for (const keyword of maps) if (Array.isArray(node[keyword]) && isEmpty(node[keyword])) node[keyword] = {};
  mendRequired(node);
  const { type, enum: values, pattern, patternProperties } = node;
  if (type === 'any' || (Array.isArray(type) && type.includes('any'))) delete node.type;
  // A default that does not fit would be put into every call that leaves the member out.
  if (node.default === null && type !== undefined && ![type].flat().includes('null')) delete node.default;
  if (Array.isArray(values) && isEmpty(values)) delete node.enum;
  if (typeof pattern === 'string' && !isPattern(pattern)) delete node.pattern;
  if (isObject(patternProperties)) {
    for (const name of Object.keys(patternProperties)) if (!isPattern(name)) delete patternProperties[name];
  }
  for (const keyword of single) mendSchema(node[keyword]);
  for (const keyword of lists) if (Array.isArray(node[keyword])) for (const branch of node[keyword]) mendSchema(branch);
  for (const keyword of maps)
    if (isObject(node[keyword])) for (const member of Object.values(node[keyword])) mendSchema(member);
}

/** `required: true` at a member is how draft 3 said it. */
function mendRequired(node: Members): void {
  const { properties, required } = node;
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  for (const [name, member] of isObject(properties) ? Object.entries(properties) : []) {
    if (!isObject(member) || typeof member.required !== 'boolean') continue;
    if (member.required) names.push(name);
    delete member.required;
  }
  if (names.length > 0) node.required = [...new Set(names)];
  else delete node.required;
}

const isEmpty = (list: readonly unknown[]): boolean => list.length === 0;

function isPattern(pattern: string): boolean {
  for (const flags of ['u', '']) {
    try {
      new RegExp(pattern, flags);
      return true;
    } catch {}
  }
  return false;
}
