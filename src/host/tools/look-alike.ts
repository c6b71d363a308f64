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
  /** By how they read: names and titles. */
  readonly #read: Map<string, NamedTool>;

  constructor(before?: OfferedNames) {
    this.#names = new Map(before ? before.#names : []);
    this.#read = new Map(before ? before.#read : []);
  }

  /** Adds a tool: why its name or its title may be taken for another one, each a sentence about it. */
  add(tool: NamedTool): string[] {
    const { name, title } = tool;
    const why = this.#whyName(name);
    const whyTitle = title === undefined ? undefined : this.#whyTitle(tool, title);
    if (!ascii.test(name)) this.#first(this.#names, plainly(name), name);
    for (const words of [name, title ?? name]) this.#first(this.#read, reading(words), tool);
    return [
      ...(why === undefined ? [] : [`look at the name of its tool ${JSON.stringify(name)}: ${why}`]),
      ...(whyTitle === undefined
        ? []
        : [
            `look at the title ${JSON.stringify(visible(title ?? ''))} of its tool ${JSON.stringify(name)}: ${whyTitle}`,
          ]),
    ];
  }

  #first<T>(map: Map<string, T>, key: string, value: T): void {
    if (!map.has(key)) map.set(key, value);
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
  #whyTitle({ name, source }: NamedTool, title: string): string | undefined {
    if (visible(title) !== title) return 'it has characters that nobody sees';
    const other = this.#read.get(reading(title));
    if (!other || other.name === name) return undefined;
    const isName = reading(other.name) === reading(title);
    if (!isName && other.source === source) return undefined;
    const what = isName ? 'the name' : `the title ${JSON.stringify(other.title)}`;
    return `it reads like ${what} of ${JSON.stringify(other.name)} of ${other.source}, which is offered beside it`;
  }
}

/** As somebody who does not look closely reads it. */
function reading(words: string): string {
  return plainly(words)
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, ' ')
    .trim();
}

function plainly(name: string): string {
  return [...name.normalize('NFKC')].map((letter) => plainOf.get(letter) ?? letter).join('');
}
