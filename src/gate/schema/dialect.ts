import type { JsonSchema } from '../../contracts/index.ts';

const single = [
  'items',
  'additionalItems',
  'additionalProperties',
  'contains',
  'else',
  'if',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
];
const lists = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'];
const maps = ['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'];

/**
 * Visits every schema of a document, innermost first, and leaves data (`default`, `enum`, `const`, `examples`)
 * alone. `visit` changes the node in place.
 */
export function walkSchema(node: unknown, visit: (node: JsonSchema) => void): void {
  if (!isSchemaObject(node)) return;
  for (const key of single) walkSchema(node[key], visit);
  for (const key of lists) {
    const branches = node[key];
    if (Array.isArray(branches)) for (const branch of branches) walkSchema(branch, visit);
  }
  for (const key of maps) {
    const members = node[key];
    if (isSchemaObject(members)) for (const member of Object.values(members)) walkSchema(member, visit);
  }
  visit(node);
}

/** Every object of a document, data included. */
export function everyObject(root: JsonSchema, visit: (node: JsonSchema) => void): void {
  const open: unknown[] = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    if (isSchemaObject(node)) visit(node);
    for (const member of Object.values(node)) if (typeof member === 'object' && member !== null) open.push(member);
  }
}

export function isSchemaObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Rewrites in place what older drafts wrote differently, so that one validator understands every schema. */
export function toDraft2020(root: JsonSchema): void {
  // Draft 4 named a document by `id`; later drafts take it for an unknown keyword, or refuse it.
  if (typeof root.id === 'string') delete root.id;
  walkSchema(root, (node) => {
    delete node.$schema;
    if (Array.isArray(node.items)) {
      node.prefixItems = node.items;
      delete node.items;
      if (node.additionalItems !== undefined) node.items = node.additionalItems;
    }
    delete node.additionalItems;
    exclusive(node, 'exclusiveMinimum', 'minimum');
    exclusive(node, 'exclusiveMaximum', 'maximum');
  });
}

function exclusive(node: JsonSchema, flag: string, limit: string): void {
  if (typeof node[flag] !== 'boolean') return;
  const isExclusive = node[flag];
  delete node[flag];
  if (isExclusive && typeof node[limit] === 'number') {
    node[flag] = node[limit];
    delete node[limit];
  }
}

/** Makes one form of what zod 3 and the versions of zod 4 write differently. In place. */
export function toCommonZodForm(root: JsonSchema): void {
  walkSchema(root, (node) => {
    if (node.type === 'integer') {
      if (node.minimum === Number.MIN_SAFE_INTEGER) delete node.minimum;
      if (node.maximum === Number.MAX_SAFE_INTEGER) delete node.maximum;
    }
    if (isSchemaObject(node.properties) && isOpen(node.additionalProperties)) delete node.additionalProperties;
    if (isBareType(node.propertyNames) && node.propertyNames.type === 'string') delete node.propertyNames;
    if (Array.isArray(node.oneOf) && node.anyOf === undefined) {
      // Branches of a discriminated union exclude one another, and `anyOf` is what most models read.
      node.anyOf = node.oneOf;
      delete node.oneOf;
    }
    if (Array.isArray(node.anyOf) && node.type === undefined && node.anyOf.every(isBareType)) {
      node.type = node.anyOf.map((branch: JsonSchema) => branch.type);
      delete node.anyOf;
    }
    if (Array.isArray(node.prefixItems)) {
      // A fixed tuple: zod 3 says it by counts alone.
      const { length } = node.prefixItems;
      if (node.items === undefined && node.maxItems === length) node.items = false;
      if (node.items === false) node.maxItems ??= length;
      node.minItems ??= length;
    }
  });
}

function isOpen(additional: unknown): boolean {
  return additional === true || (isSchemaObject(additional) && Object.keys(additional).length === 0);
}

function isBareType(node: unknown): node is JsonSchema & { type: string } {
  return isSchemaObject(node) && typeof node.type === 'string' && Object.keys(node).length === 1;
}
