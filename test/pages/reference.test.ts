import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tokens } from 'marked';
import { describe, expect, test } from 'vitest';
import { agentEvent, endReasons } from '../../src/contracts/schemas/events.ts';
import { faultOfRule } from '../../src/host/policy/rule.ts';
import { readPage, root, tokensOf } from './blocks.ts';

/** The rows of the table below a heading, each as the text of its cells. */
function rowsBelow(page: string, heading: string): string[][] {
  const tokens = tokensOf(readPage(page));
  const from = tokens.findIndex((token) => token.type === 'heading' && token.text === heading);
  const table = tokens.slice(from).find((token): token is Tokens.Table => token.type === 'table');
  return from < 0 || !table ? [] : table.rows.map((row) => row.map(({ text }) => text));
}

const quoted = (text = ''): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
const namesOf = (rows: string[][]): string[] => rows.flatMap(([first]) => quoted(first)).toSorted();

/** The members that an interface of a file declares itself. */
function membersOf(file: string, name: string): string[] {
  const source = readFileSync(join(root, 'src', file), 'utf8');
  const [, body = ''] = new RegExp(`export interface ${name}\\b[^{]*\\{\\n(.*?)\\n\\}`, 's').exec(source) ?? [];
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??:/gm)].map(([, member = '']) => member);
}

describe('reference pages say what the code has', () => {
  const page = 'docs/reference/host-options.md';

  test('D4 options of createHost', () => {
    const own = membersOf('host/terms/options.ts', 'HostOptions');
    const embedded = membersOf('embed/create-host.ts', 'EmbeddedHostOptions');
    expect(own.length).toBeGreaterThan(20);
    expect(namesOf(rowsBelow(page, '`createHost(options)`'))).toEqual([...new Set([...own, ...embedded])].toSorted());
  });

  test('D4 options of open', () => {
    const own = membersOf('host/terms/options.ts', 'OpenOptions');
    const all = [...own, ...membersOf('contracts/hosts.ts', 'SessionRef')];
    expect(all.length).toBeGreaterThan(8);
    expect(namesOf(rowsBelow(page, '`host.open(agent, options)`'))).toEqual(all.toSorted());
  });

  test('D4 options of a stream', () => {
    const own = membersOf('contracts/types/session.ts', 'ExecutionOptions');
    expect(own.length).toBeGreaterThan(8);
    expect(namesOf(rowsBelow(page, '`session.stream(input, options)` and `run(session, input, options)`'))).toEqual(
      own.toSorted(),
    );
  });

  test('D4 events: types, fields, and which of them may be absent', () => {
    const [known] = agentEvent.options;
    const shapes = known.options.map(({ shape }) => shape);
    const shared = Object.keys(shapes[0] ?? {}).filter((field) => shapes.every((shape) => field in shape));
    // What every event may have is told once, but for an agent that has to be named.
    const own = shapes.map((shape) => {
      const fields = Object.entries(shape)
        .filter(
          ([field]) => !shared.includes(field) || (field === 'agentId' && !shape.agentId?.safeParse(undefined).success),
        )
        .map(([field, schema]) => (schema.safeParse(undefined).success ? `${field}?` : field));
      return [shape.type.value, ...fields].join(' ');
    });
    const rows = rowsBelow('docs/reference/events.md', 'By type');
    const told = rows.map(([type, , fields]) => [...quoted(type), ...quoted(fields)].join(' '));
    expect(told.map(sortedFields)).toEqual(own.map(sortedFields));
  });

  test('D4 reasons of an end', () => {
    expect(namesOf(rowsBelow('docs/reference/events.md', 'Reasons of `stream_end`'))).toEqual(
      [...endReasons].toSorted(),
    );
  });

  test('P2 members of a rule', () => {
    const { fault = '' } = faultOfRule({ nothing: 1 }) ?? {};
    const [, known = ''] = /known are (.*)$/.exec(fault) ?? [];
    expect(namesOf(rowsBelow('docs/reference/rules.md', 'Members of a policy rule'))).toEqual(
      known.split(', ').toSorted(),
    );
  });
});

/** The type first; the order of the fields is the page's. */
function sortedFields(line: string): string {
  const [type = '', ...fields] = line.split(' ');
  return [type, ...fields.toSorted()].join(' ');
}
