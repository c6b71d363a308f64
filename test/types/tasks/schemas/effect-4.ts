import { Schema } from 'effect';

const described = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) =>
  Schema.toStandardJSONSchemaV1(Schema.toStandardSchemaV1(schema));

export const name = described(Schema.Struct({ name: Schema.String }));
export const text = described(Schema.Struct({ text: Schema.String }));
export const payment = described(Schema.Struct({ amount: Schema.Finite }));
