import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { openApiText } from '../../src/host/http/index.ts';
import { routes } from '../../src/host/http/routes.ts';

/** The schema that the OpenAPI Initiative publishes for 3.1 (2026-08-03), without its comments. */
const official = JSON.parse(readFileSync(join(import.meta.dirname, 'openapi-3.1.schema.json'), 'utf8'));

interface Operation {
  operationId: string;
  parameters: { name: string; in: string }[];
  requestBody?: { content: Record<string, { schema: { $ref: string } }> };
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
}

const document = JSON.parse(await openApiText('')) as Document;
const ajv = () => new Ajv2020({ strict: false, validateFormats: false, allErrors: true });

describe('the OpenAPI document', () => {
  test('HTTP-19 is what the specification of OpenAPI 3.1 asks for', () => {
    const validate = ajv().compile(official);
    validate(document);
    expect(validate.errors).toBeNull();
    // A validator that takes anything would say so of this, too.
    expect(ajv().compile(official)({ ...document, paths: { 'no slash': {} } })).toBe(false);
    expect(ajv().compile(official)({ ...document, info: {} })).toBe(false);
  });

  test('HTTP-19 has every route, once', () => {
    const made = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const there = Object.entries(routes).flatMap(([path, list]) => list.map(({ method }) => `${method} ${path}`));
    expect(made).toEqual(there);
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map((one) => one.operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('HTTP-19 its schemas refer to one another alone, and judge what is sent', () => {
    const names = new Set(Object.keys(document.components.schemas));
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref ?? '');
    expect(refs.filter((ref) => !names.has(ref.replace('#/components/schemas/', '')))).toEqual([]);
    const judge = (name: string) =>
      ajv().compile({ $ref: `#/components/schemas/${name}`, components: document.components });
    expect(judge('Message')({ input: 'hi' })).toBe(true);
    expect(judge('Message')({ input: 7 })).toBe(false);
    expect(judge('Respond')({ requestId: 'c', answer: { kind: 'approve' } })).toBe(true);
    expect(judge('Respond')({ answer: { kind: 'approve' } })).toBe(false);
    expect(judge('Error')({ error: { code: 'E', status: 'S', message: 'm', retryable: false } })).toBe(true);
  });
});
