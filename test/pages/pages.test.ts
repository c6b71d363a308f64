import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as cedar from '@cedar-policy/cedar-wasm/nodejs';
import { parseAst } from 'rolldown/parseAst';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { buildProgram } from '../../src/cli/program.ts';
import { Interrupts } from '../../src/cli/terminal/index.ts';
import type { Block } from './blocks.ts';
import { blocksOf, pagePaths, root } from './blocks.ts';
import { commandFaults, commandsOf, startFaults } from './commands.ts';
import { isAsShown } from './printed.ts';
import { playedFaults, site, typeFaults } from './site.ts';

const pages = pagePaths();
/** What `npm run` knows where a page is read: an example is a project of its own. */
function scriptsOf(page: string): Record<string, string> {
  const folder = /^examples\/[^/]+(?=\/)/.exec(page)?.[0] ?? '';
  const { scripts } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  return scripts;
}
const { program } = buildProgram(new Interrupts());

let home: ReturnType<typeof site>;
beforeAll(() => {
  home = site();
}, 300_000);
afterAll(() => home[Symbol.dispose]());

/** What is wrong with a block that can be said without running it; a language that is not here is a fault. */
const readers: Readonly<Record<string, (block: Block) => string[]>> = {
  // The compiler reads ours; what is written with another product is read here.
  ts: ({ text, words }) => (words.foreign === undefined ? [] : thrown(() => parseAst(text, { lang: 'ts' }))),
  tsx: () => [],
  js: () => [],
  text: () => [],
  json: ({ text }) => {
    const faults = thrown(() => JSON.parse(text));
    return faults.length > 0 ? faults : startFaults(JSON.parse(text), program);
  },
  nginx: ({ text }) =>
    text.split('\n').filter((line) => line.trim() !== '' && !/^\s*(#.*|\}|[a-z_]+ .*[;{])$/.test(line)),
  dockerfile: ({ text }) =>
    text.split('\n').flatMap((line) => {
      const [, name, rest = ''] = /^(FROM|WORKDIR|COPY|RUN|USER|EXPOSE|ENV|CMD|ENTRYPOINT) (.+)$/.exec(line) ?? [];
      if (name === undefined) return [`no instruction: ${line}`];
      return rest.startsWith('[') ? startFaults({ args: JSON.parse(rest) }, program) : [];
    }),
  jsonl: ({ text }) => text.split('\n').flatMap((line) => thrown(() => JSON.parse(line))),
  yaml: ({ text }) => parseDocument(text).errors.map(({ message }) => message),
  sh: ({ text, page }) => {
    const { status, stderr } = spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' });
    return [...(status === 0 ? [] : [stderr]), ...commandFaults(text, program, scriptsOf(page))];
  },
  cedar: ({ text }) => {
    const answer = cedar.checkParsePolicySet({ staticPolicies: text });
    return answer.type === 'success' ? [] : answer.errors.map(({ message }) => message);
  },
  // The page itself is run by test/websocket/browser.test.ts.
  html: ({ text }) =>
    [...text.matchAll(/<script type="importmap">([\s\S]*?)<\/script>/g)].flatMap(([, map = '']) =>
      thrown(() => JSON.parse(map)),
    ),
  // The server that has the parser is no package of this ecosystem: where it is not installed, the shape is looked at.
  rego: ({ text }) => {
    const { status, stderr, error } = spawnSync('opa', ['check', '--strict', '/dev/stdin'], {
      input: text,
      encoding: 'utf8',
    });
    if (error === undefined) return status === 0 ? [] : [stderr];
    const opens = (sign: string) => text.split(sign).length;
    return /^package [\w.]+\n/.test(text) && opens('{') === opens('}') && opens('[') === opens(']')
      ? []
      : ['no Rego module'];
  },
};

function thrown(work: () => unknown): string[] {
  try {
    work();
    return [];
  } catch (error) {
    return [String(error)];
  }
}

test('D3 every block of every page says what it is, and is that', () => {
  const faults = pages.flatMap((page) =>
    blocksOf(page).flatMap((block) => {
      const read = readers[block.language];
      const said = read ? read(block) : [`a block of ${block.language || 'no language'}`];
      return said.map((fault) => `${page}:${block.line}: ${fault}`);
    }),
  );
  expect(faults).toEqual([]);
});

test('D3 the TypeScript of every page compiles as it is printed', async () => {
  expect(await typeFaults(home.folder, pages)).toEqual([]);
}, 300_000);

describe.concurrent('D3 what a page shows is what running it does', () => {
  const played = pages.filter((page) => blocksOf(page).some(({ language }) => /^(sh|ts|js)$/.test(language)));
  test.for(played)('%s', async (page, { expect: here }) => {
    here(await playedFaults(home.folder, page)).toEqual([]);
  });
});

test('D3 a file of a page is run or imported on that page, or the page says why not', () => {
  const faults = pages.flatMap((page) => {
    const blocks = blocksOf(page);
    return blocks
      .filter(
        ({ words, language }) => words.file !== undefined && words.norun === undefined && /^(ts|js)$/.test(language),
      )
      .filter(({ words: { file = '' } }) => !blocks.some((other) => uses(other, file)))
      .map(({ line, words }) => `${page}:${line}: ${words.file}`);
  });
  expect(faults).toEqual([]);
});

function uses({ words, language, text }: Block, file: string): boolean {
  if (language === 'sh') return words.run !== undefined && commandsOf(text).some((command) => command.includes(file));
  return text.includes(`'./${file}'`) || text.includes(`'${file}'`);
}

describe('the reading of pages', () => {
  const page = (text: string) => blocksOf('p.md', text);

  test('a block has the words of its first line, and its output', () => {
    const blocks = page(
      '# T\n\n```ts name=a norun="a key is needed"\nlet x;\n```\n\n- in a list:\n\n  ```sh run\n  ls\n  ```\n\n```text output\nfile\n```\n',
    );
    expect(blocks).toEqual([
      { page: 'p.md', line: 4, language: 'ts', words: { name: 'a', norun: 'a key is needed' }, text: 'let x;' },
      { page: 'p.md', line: 10, language: 'sh', words: { run: '' }, text: 'ls', output: 'file' },
    ]);
  });

  test('words that make no sense are refused', () => {
    expect(() => page('```ts runs\n```\n')).toThrow('p.md:2: runs is none of');
    expect(() => page('```ts after=b\n```\n')).toThrow('p.md:2: continues b');
    expect(() => page('```text output\n```\n')).toThrow('p.md:2: the output of no block');
    expect(() => page('```ts name=a\n```\n```ts file=a\n```\n')).toThrow('two blocks are called a');
    expect(() => page('text\n\n    indented\n')).toThrow('indented');
  });

  test('… stands for what differs each time', () => {
    expect(isAsShown('id …\ndone', 'id 17\ndone\n')).toBe(true);
    expect(isAsShown('id …\ndone', 'id 17\nmore\ndone\n')).toBe(false);
    expect(isAsShown('begin\n…\nend (1)', 'begin\na\nb\nend (1)\n')).toBe(true);
    expect(isAsShown('a.c', 'abc')).toBe(false);
  });

  test('commands and flags that are not there are found', () => {
    const found = (line: string) => commandFaults(line, program, { test: '' });
    expect(found('coxswain run agent.ts "do --this" --approve allow > out.txt # and --that')).toEqual([]);
    expect(found('A=b coxswain sessions lists')).toEqual(['sessions has no command lists']);
    expect(found('npx coxswain run agent.ts --aprove allow')).toEqual(['run has no flag --aprove']);
    expect(found('npm start -- --aprove x && npm run nothing')).toEqual([
      'run has no flag --aprove',
      'there is no script nothing',
    ]);
    expect(startFaults({ a: [{ args: ['/x/cli.js', 'mcp', 'a.ts', '--stor', 'x'] }] }, program)).toEqual([
      'mcp has no flag --stor',
    ]);
    expect(found('coxswain conformance --only tool -- python3 x.py --flag')).toEqual([]);
  });
});
