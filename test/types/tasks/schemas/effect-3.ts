import { JSONSchema, Schema } from 'effect-3';

/** effect 3 keeps the JSON Schema of a schema beside its Standard Schema. */
const described = <A, I>(schema: Schema.Schema<A, I>) => {
  const { '~standard': standard } = Schema.standardSchemaV1(schema);
  return { '~standard': { ...standard, jsonSchema: { input: () => JSONSchema.make(schema) } } };
};

export const name = described(Schema.Struct({ name: Schema.String }));
export const text = described(Schema.Struct({ text: Schema.String }));
export const payment = described(Schema.Struct({ amount: Schema.Number }));
