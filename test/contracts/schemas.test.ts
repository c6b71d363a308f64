import { describe, expect, test } from 'vitest';
import { published } from '../../scripts/generate-spec.ts';
import * as schemas from '../../src/contracts/schemas/index.ts';
import { accepted, eventBase, eventSamples, rejected } from './samples.ts';

describe('schemas', () => {
  test.each(accepted)('$schema keeps every field of $what', ({ schema, value }) => {
    expect(published[schema].parse(value)).toEqual(value);
  });

  test.each(rejected)('$schema refuses $what', ({ schema, value }) => {
    expect(published[schema].safeParse(value).success).toBe(false);
  });

  test('S0-16 content is role and parts; calls, responses, text, thoughts and media have their shapes', () => {
    const content = {
      role: 'model',
      parts: [
        { type: 'thought', thought: 'hm' },
        { type: 'text', text: 'hi' },
        { type: 'media', mimeType: 'image/png', data: 'AA==' },
        { type: 'function_call', id: 'c1', name: 'f', args: { a: 1 } },
        { type: 'function_response', id: 'c1', name: 'f', response: { b: 2 } },
      ],
    };
    expect(schemas.content.parse(content)).toEqual(content);
    const without = (index: number, field: string) => {
      const part: Record<string, unknown> = { ...content.parts[index] };
      delete part[field];
      return schemas.content.safeParse({ role: 'user', parts: [part] }).success;
    };
    const needed = [['thought'], ['text'], ['mimeType'], ['id', 'name', 'args'], ['id', 'name', 'response']];
    expect(needed.flatMap((fields, index) => fields.filter((field) => without(index, field)))).toEqual([]);
  });

  test('S3-33 twelve event types are known, and an unknown one passes with all its fields', () => {
    expect([...schemas.agentEventTypes].sort()).toEqual(Object.keys(eventSamples).sort());
    expect(schemas.agentEventTypes).toHaveLength(12);
    const stranger = { ...eventBase, type: 'weather', sun: { hours: 3 }, _meta: { a: null } };
    expect(schemas.agentEvent.parse(stranger)).toEqual(stranger);
  });

  test('an unknown field of a known event passes', () => {
    const newer = { ...eventSamples.message, mood: 'good' };
    expect(schemas.agentEvent.parse(newer)).toEqual(newer);
  });

  test('a malformed known part is reported with its own fault, not only as a stranger', () => {
    const result = schemas.agentEvent.safeParse({ ...eventSamples.message, content: [{ type: 'text' }] });
    expect(JSON.stringify(result.error?.issues)).toContain('"path":["text"]');
  });
});

describe('agent names', () => {
  test.each(['a', '_x', '$', 'Front-Desk', 'a1', 'A_b$-'])('S3-01 %s is a name', (name) => {
    expect(schemas.agentName.safeParse(name).success).toBe(true);
  });

  test.each(['', 'user', '1a', '-a', 'a b', 'a.b', 'a/b', 'ä', 'a\n', 7])('S3-01 %j is no name', (name) => {
    expect(schemas.agentName.safeParse(name).success).toBe(false);
  });
});

describe('hostile input', () => {
  const data = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"b":1}');
  const clean = () => expect(({} as Record<string, unknown>).polluted).toBeUndefined();

  test('__proto__ among the arguments of a call is data', () => {
    const args = schemas.functionCallPart.parse({ type: 'function_call', id: 'c', name: 'n', args: data }).args;
    expect(Object.keys(args)).toEqual(['__proto__', 'constructor', 'b']);
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
    clean();
  });

  test.each(['_meta', 'stateDelta', 'config'])('__proto__ in %s is data', (field) => {
    const event = schemas.agentEvent.parse({ ...eventBase, type: 'session_update', [field]: data });
    expect(JSON.stringify((event as Record<string, unknown>)[field])).toBe(JSON.stringify(data));
    clean();
  });

  test('__proto__ beside the fields of an event or a part reaches no prototype', () => {
    const part = schemas.contentPart.parse({ ...data, ...JSON.parse('{"__proto__":{"text":"x"}}'), type: 'hologram' });
    const event = schemas.agentEvent.parse(Object.assign(JSON.parse('{"__proto__":{"seq":1}}'), eventSamples.usage));
    for (const parsed of [part, event]) expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    clean();
  });

  test.each([65, 10_000])('a tree of agents %i levels deep is refused, not a stack overflow', (depth) => {
    const leaf = { name: 'a', description: '', executor: 'adk', capabilities: [], ownTools: [], requiredTools: [] };
    let tree: object = { ...leaf, subAgents: [] };
    for (let level = 0; level < depth; level++) tree = { ...leaf, subAgents: [tree] };
    const result = schemas.agentDescriptor.safeParse(tree);
    expect(result.error?.issues[0]?.message).toContain('deeper than 64');
  });

  test('a tree of agents 60 levels deep passes', () => {
    const leaf = { name: 'a', description: '', executor: 'adk', capabilities: [], ownTools: [], requiredTools: [] };
    let tree: object = { ...leaf, subAgents: [] };
    for (let level = 0; level < 60; level++) tree = { ...leaf, subAgents: [tree] };
    expect(schemas.agentDescriptor.parse(tree)).toEqual(tree);
  });

  test('arguments 10,000 levels deep and strings of 5 MB are parsed', () => {
    const args = JSON.parse(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`);
    expect(schemas.toolRequestEvent.safeParse({ ...eventSamples.tool_request, args }).success).toBe(true);
    const text = 'x'.repeat(5_000_000);
    expect(schemas.contentPart.parse({ type: 'text', text })).toEqual({ type: 'text', text });
  });
});
