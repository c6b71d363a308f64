import type { JsonSchema } from '../../contracts/index.ts';
import { everyObject, isSchemaObject } from './dialect.ts';
import { valueSize } from './value-size.ts';

/**
 * What a validator may add to a value while it evaluates a schema: whichever part of the schema adds it, every other
 * part may look at it.
 */
export class SchemaDefaults {
  readonly #members = new Map<string, unknown[]>();
  readonly #items: [index: number, value: unknown][] = [];
  /** Of all together. */
  readonly size: number;

  constructor(root: JsonSchema) {
    everyObject(root, ({ properties, prefixItems }) => {
      if (isSchemaObject(properties)) {
        for (const [name, member] of Object.entries(properties)) {
          if (!hasDefault(member)) continue;
          this.#members.set(name, [...(this.#members.get(name) ?? []), member.default]);
        }
      }
      if (!Array.isArray(prefixItems)) return;
      for (const [index, item] of prefixItems.entries()) if (hasDefault(item)) this.#items.push([index, item.default]);
    });
    this.size = valueSize([...this.#members.values(), this.#items]) - 2 - this.#members.size;
  }

  *membersBeside(value: object): Iterable<[name: string, value: unknown]> {
    for (const [name, values] of this.#members) {
      if (!Object.hasOwn(value, name)) for (const each of values) yield [name, each];
    }
  }

  *itemsAfter(length: number): Iterable<[index: number, value: unknown]> {
    for (const item of this.#items) if (item[0] >= length) yield item;
  }
}

const hasDefault = (schema: unknown): schema is { default: unknown } =>
  isSchemaObject(schema) && schema.default !== undefined;
