import type { Document, LineCounter, Node } from 'yaml';
import { CoxswainError } from '../../contracts/index.ts';

type Yaml = typeof import('yaml');
export type Path = readonly (string | number)[];

/** A parsed file, and the way from a place in its content to a line. */
export class YamlFile {
  readonly file: string;
  readonly #document: Document;
  readonly #lines: LineCounter;
  readonly #yaml: Yaml;

  private constructor(file: string, document: Document, lines: LineCounter, yaml: Yaml) {
    this.file = file;
    this.#document = document;
    this.#lines = lines;
    this.#yaml = yaml;
  }

  /** @throws CoxswainError `INVALID_ARGUMENT / E_POLICY_FILE`: `file:line: reason`; `details` has file and line */
  static async parse(text: string, file: string): Promise<YamlFile> {
    const yaml = await import('yaml');
    const lines = new yaml.LineCounter();
    const document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false });
    const parsed = new YamlFile(file, document, lines, yaml);
    // A tag that nobody knows is a warning there, and a misunderstanding here.
    const broken = document.errors[0] ?? document.warnings[0];
    if (broken) throw parsed.faultAt(lines.linePos(broken.pos[0]).line, broken.message, broken);
    return parsed;
  }

  /** @throws CoxswainError `INVALID_ARGUMENT / E_POLICY_FILE` for aliases that would explode */
  get content(): unknown {
    try {
      return this.#document.toJS({ maxAliasCount: 100 });
    } catch (error) {
      throw this.fault([], (error as Error).message, error);
    }
  }

  fault(path: Path, reason: string, cause?: unknown): CoxswainError {
    return this.faultAt(this.lineAt(path), reason, cause);
  }

  faultAt(line: number, reason: string, cause?: unknown): CoxswainError {
    const { file } = this;
    return new CoxswainError('INVALID_ARGUMENT', 'E_POLICY_FILE', `${file}:${line}: ${reason}`, {
      details: { file, line },
      cause,
    });
  }

  onlyKnown(object: Record<string, unknown>, known: readonly string[], path: Path): void {
    const name = Object.keys(object).find((key) => !known.includes(key));
    if (name !== undefined) {
      throw this.fault([...path, name], `"${name}" is unknown; known are ${known.join(', ')}`);
    }
  }

  /** The line of the last step of a path that is in the file. */
  lineAt(path: Path): number {
    const yaml = this.#yaml;
    let node: unknown = this.#document.contents;
    let offset = 0;
    for (const step of path) {
      if (yaml.isAlias(node)) node = node.resolve(this.#document);
      if (yaml.isMap(node)) {
        const pair = node.items.find(({ key }) => (yaml.isScalar(key) ? key.value : key) === step);
        if (!pair) break;
        offset = (pair.key as Node).range?.[0] ?? offset;
        node = pair.value;
      } else if (yaml.isSeq(node)) {
        node = node.items[Number(step)];
        offset = (node as Node | undefined)?.range?.[0] ?? offset;
      } else break;
    }
    return this.#lines.linePos(offset).line;
  }
}
