import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Token } from 'marked';
import { lexer } from 'marked';

export const root = join(import.meta.dirname, '../..');

/** The words that may follow a block's language. CONTRIBUTING says what they mean. */
const known = ['file', 'name', 'after', 'run', 'exit', 'stop', 'norun', 'foreign', 'output'] as const;
export type Word = (typeof known)[number];

export interface Block {
  /** The page's path in the project. */
  page: string;
  /** Of its first line of text. */
  line: number;
  language: string;
  words: Partial<Record<Word, string>>;
  text: string;
  /** What the page says that running it prints. */
  output?: string;
}

/** Pages that are for readers of the package. Decisions are history: they stay as they were. */
export function pagePaths(): string[] {
  const patterns = ['*.md', 'docs/**/*.md', 'spec/*.md', 'examples/README.md', 'examples/*/README.md'];
  return globSync(patterns, { cwd: root, exclude: ['docs/decisions'] })
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted();
}

export function readPage(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}

/** Every token of a page, those inside others too. */
export function tokensOf(markdown: string): Token[] {
  const all: Token[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === 'object' && value !== null) {
      if ('type' in value && 'raw' in value) all.push(value as Token);
      Object.values(value).forEach(visit);
    }
  };
  visit(lexer(markdown));
  return all;
}

/** @throws Error where a block's words make no sense: the message names the place */
export function blocksOf(page: string, markdown = readPage(page)): Block[] {
  const blocks: Block[] = [];
  let from = 0;
  for (const token of tokensOf(markdown)) {
    if (token.type !== 'code') continue;
    const info: string = token.lang ?? '';
    const text: string = token.text;
    const fence = markdown.indexOf(`\`\`\`${info}\n`, from);
    if (fence < 0) throw new Error(`${page}: a block that is indented instead of fenced: ${text.slice(0, 60)}`);
    from = fence + 3 + info.length + text.length;
    const line = markdown.slice(0, fence).split('\n').length + 1;
    const [language = ''] = info.split(' ');
    const block: Block = { page, line, language, words: wordsOf(info.slice(language.length), `${page}:${line}`), text };
    if (block.words.output === undefined) blocks.push(block);
    else printedBy(blocks.at(-1), block).output = text;
  }
  for (const [index, { words, line }] of blocks.entries()) {
    if (words.after !== undefined && !blocks.slice(0, index).some((block) => isNamed(block, words.after)))
      throw new Error(`${page}:${line}: continues ${words.after}, and no block before it has that name`);
  }
  const names = blocks.flatMap(({ words }) => words.file ?? words.name ?? []);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`${page}: two blocks are called ${twice}`);
  return blocks;
}

function isNamed({ words }: Block, name: string | undefined): boolean {
  return name !== undefined && (words.file === name || words.name === name);
}

function printedBy(block: Block | undefined, { page, line }: Block): Block {
  if (!block || block.output !== undefined) throw new Error(`${page}:${line}: the output of no block`);
  return block;
}

function wordsOf(info: string, place: string): Block['words'] {
  const words: Block['words'] = {};
  const rest = info.replaceAll(
    / ([a-z]+)(?:=(?:"([^"]+)"|(\S+)))?/g,
    (_, word: string, quoted?: string, bare?: string) => {
      const name = known.find((each) => each === word);
      if (!name) throw new Error(`${place}: ${word} is none of ${known.join(', ')}`);
      words[name] = quoted ?? bare ?? '';
      return '';
    },
  );
  if (rest.trim() !== '') throw new Error(`${place}: the block's first line has ${rest}`);
  return words;
}

/** A block behind those that it continues, first to last. */
export function chainOf(block: Block, blocks: readonly Block[]): Block[] {
  const before = blocks.find((each) => isNamed(each, block.words.after));
  return before ? [...chainOf(before, blocks), block] : [block];
}

export function isContinued(block: Block, blocks: readonly Block[]): boolean {
  return blocks.some(({ words }) => isNamed(block, words.after));
}
