import { visible } from '../../session/index.ts';

/** Letters of other scripts that read like Latin ones, and those that they read like. */
const others = 'аеорсухіјѕԁԛԝһкмтвнАВЕКМНОРСТУХІЈЅαοριυνκΑΒΕΖΗΙΚΜΝΟΡΤΥΧ';
const latin = 'aeopcyxijsdqwhkmtbhABEKMHOPCTYXIJSaopiuvkABEZHIKMNOPTYX';
const plainOf = new Map([...others].map((letter, index) => [letter, latin[index] ?? letter]));

const ascii = /^[\x20-\x7e]*$/;

/** A tool as people and rules know it. */
export interface NamedTool {
  readonly name: string;
  readonly title?: string | undefined;
  /** Where it comes from: tools of one place may have one title. */
  readonly source: string;
}

/** The names and titles of tools that are offered together: names are compared as they are, and this tells what may be confused. */
export class OfferedNames {
  /** By how it reads: names that are not plain. */
  readonly #names: Map<string, string>;
  /** The first tool with a name that reads so, and the first with such a title. */
  readonly #named: Map<string, NamedTool>;
  readonly #titled: Map<string, NamedTool>;

  constructor(before?: OfferedNames) {
    this.#names = new Map(before ? before.#names : []);
    this.#named = new Map(before ? before.#named : []);
    this.#titled = new Map(before ? before.#titled : []);
  }

  /**
   * Adds a tool: what of it may be taken for another one, or of another one for it, each as a sentence. It does not matter
   * which of the two is added first.
   */
  add(tool: NamedTool): string[] {
    const { name, title } = tool;
    const found: string[] = [];
    const why = this.#whyName(name);
    if (why !== undefined) found.push(`look at the name of its tool ${JSON.stringify(name)}: ${why}`);
    if (!ascii.test(name)) first(this.#names, plainly(name), name);
    const read = reading(name);
    if (title !== undefined) {
      const readTitle = reading(title);
      const whyTitle = this.#whyTitle(tool, title, readTitle);
      if (whyTitle !== undefined) {
        found.push(`look at the title ${shown(title)} of its tool ${JSON.stringify(name)}: ${whyTitle}`);
      }
      first(this.#titled, readTitle, tool);
    }
    const before = this.#titled.get(read);
    if (before && before.name !== name) {
      const whose = `${JSON.stringify(before.name)} of ${before.source}`;
      found.push(
        `look at the title ${shown(before.title ?? '')} of ${whose}: it reads like the name of its tool ${JSON.stringify(name)}`,
      );
    }
    first(this.#named, read, tool);
    return found;
  }

  #whyName(name: string): string | undefined {
    if (ascii.test(name)) return undefined;
    if (/[\p{Cf}\p{Cc}\p{Zl}\p{Zp}]/u.test(name)) return 'it has characters that nobody sees';
    const plain = plainly(name);
    // A word of one script that only shares some letters with Latin is plain.
    if (name.normalize('NFKC') !== name || ascii.test(plain)) {
      return `it reads like ${JSON.stringify(ascii.test(plain) ? plain : name.normalize('NFKC'))}, which is another name`;
    }
    const other = this.#names.get(plain);
    return other === undefined || other === name
      ? undefined
      : `it reads like ${JSON.stringify(other)}, which is offered beside it`;
  }

  /** A title is words, not a name: what matters is whether somebody takes it for another tool. */
  #whyTitle({ name, source }: NamedTool, title: string, read: string): string | undefined {
    if (visible(title) !== title) return 'it has characters that nobody sees';
    const named = this.#named.get(read);
    if (named && named.name !== name) return readsLike('the name', named);
    const titled = this.#titled.get(read);
    if (!titled || titled.name === name || titled.source === source) return undefined;
    return readsLike(`the title ${shown(titled.title ?? '')}`, titled);
  }
}

function first<T>(map: Map<string, T>, key: string, value: T): void {
  if (!map.has(key)) map.set(key, value);
}

const shown = (title: string) => JSON.stringify(visible(title));

const readsLike = (what: string, { name, source }: NamedTool) =>
  `it reads like ${what} of ${JSON.stringify(name)} of ${source}, which is offered beside it`;

/** As somebody who does not look closely reads it: without punctuation, and a digit within a word may be a letter. */
function reading(words: string): string {
  const plain = plainly(words).toLowerCase();
  const read = plain
    .replaceAll(/[\s\p{P}]+/gu, ' ')
    .trim()
    .replaceAll(/(?<=\p{L})[01]|[01](?=\p{L})/gu, (digit) => (digit === '0' ? 'o' : 'l'));
  return read === '' ? plain : read;
}

function plainly(name: string): string {
  return [...name.normalize('NFKC')].map((letter) => plainOf.get(letter) ?? letter).join('');
}
