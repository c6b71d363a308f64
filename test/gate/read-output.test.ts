import { expect, test } from 'vitest';
import type { SchemaLike } from '../../src/contracts/index.ts';
import { readOutput, readPromised } from '../../src/gate/index.ts';

const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
const json = '{"a":1}';

test.each([
  ['as it is', json],
  ['with space around it', `\n ${json} \n`],
  ['between fences', `\`\`\`\n${json}\n\`\`\``],
  ['between fences with their language', `\`\`\`json\n${json}\n\`\`\``],
  ['with the language in capitals and space behind it', `\`\`\`JSON \t\r\n${json}\n\`\`\``],
  ['between fences in space', `\n\`\`\`json\n${json}\n\`\`\`\n`],
])('an answer %s is read', (_, text) => {
  expect(readOutput(schema, text)).toEqual({ ok: true, value: { a: 1 } });
});

test.each([
  ['no JSON', 'a is 1', /^it is not JSON/],
  ['no more than a fence', '```', /^it is not JSON/],
  ['fences of another language', `\`\`\`yaml\n${json}\n\`\`\``, /^it is not JSON/],
  ['fences on one line', `\`\`\`json ${json}\`\`\``, /^it is not JSON/],
  ['a fence that does not end', `\`\`\`json\n${json}`, /^it is not JSON/],
  ['a fence that does not begin', `${json}\n\`\`\``, /^it is not JSON/],
  ['words before the fence', `so: \`\`\`json\n${json}\n\`\`\``, /^it is not JSON/],
  ['JSON of another shape', '{"a":"one"}', /^a: expected number, got "one"$/],
])('an answer that is %s is told why it is none', (_, text, message) => {
  expect(readOutput(schema, text)).toEqual({ ok: false, message: expect.stringMatching(message) });
});

test('a schema that is none takes no answer', () => {
  expect(readOutput({ type: 'nonsense' }, json)).toMatchObject({ ok: false });
});

test('a promise is checked by the schema that it was made from as well, and the answer stays as it was said', async () => {
  const outputSource = (validate: (value: unknown) => unknown) =>
    ({ '~standard': { version: 1, vendor: 'v', validate } }) as unknown as SchemaLike;
  const read = (validate: (value: unknown) => unknown) =>
    readPromised({ outputSchema: schema, outputSource: outputSource(validate) }, json);
  expect(await read(() => ({ value: { a: 2 } }))).toEqual({ ok: true, value: { a: 1 } });
  expect(await read(async () => ({ value: 1, issues: undefined }))).toEqual({ ok: true, value: { a: 1 } });
  expect(await read(() => ({ issues: [{ path: ['a'], message: 'no' }] }))).toEqual({ ok: false, message: 'a: no' });
  expect(await read((value) => Object.assign(value as object, { a: 9 }) && { value })).toMatchObject({
    value: { a: 1 },
  });
  const fails = () => {
    throw new Error('away');
  };
  expect(await read(fails)).toEqual({ ok: false, message: 'away' });
  expect(await readPromised({ outputSchema: schema, outputSource: outputSource(fails) }, 'no')).toMatchObject({
    message: expect.stringMatching(/^it is not JSON/),
  });
  expect(readPromised({}, '[1]')).toEqual({ ok: true, value: [1] });
});
