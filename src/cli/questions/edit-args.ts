import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canonicalJson, messageOf } from '../../contracts/index.ts';
import { readLine } from '../editing/index.ts';
import { clean, keyboard, lineWidth } from '../terminal/index.ts';

type Args = Record<string, unknown>;

/** What came of an edit: other arguments, or why there are none. */
export type Edited = { args: Args } | { fault: string } | undefined;

/** Lets somebody change the arguments of one call. What was typed last is there again when it was not taken. */
export class ArgsEdit {
  #draft: string | undefined;
  readonly #args: Args;

  constructor(args: Args) {
    this.#args = args;
  }

  /** Undefined: nothing was changed. */
  async ask(signal: AbortSignal): Promise<Edited> {
    const editor = chosenEditor();
    const short = JSON.stringify(this.#args);
    const isLong = short.length > lineWidth() || /[^\\]\\n/.test(short);
    return editor && isLong ? this.#inEditor(editor) : this.#inLine(short, signal);
  }

  async #inLine(args: string, signal: AbortSignal): Promise<Edited> {
    const line = await readLine('arguments: ', { prefill: this.#draft ?? args, signal });
    if (line === 'interrupted' || line === undefined || line.text.trim() === '') return undefined;
    this.#draft = line.text;
    return parsed(line.text, JSON.parse, 'JSON');
  }

  /** As YAML, in which a text of several lines is what it is; JSON where that would not come back as it was. */
  async #inEditor(editor: string): Promise<Edited> {
    const { parse, stringify } = await import('yaml');
    const yaml = stringify(this.#args, { lineWidth: 0 });
    const isSame = canonicalJson(parse(yaml)) === canonicalJson(this.#args);
    const given = this.#draft ?? (isSame ? yaml : `${JSON.stringify(this.#args, null, 2)}\n`);
    let text: string;
    try {
      text = await edited(editor, given);
    } catch (error) {
      return { fault: messageOf(error) };
    }
    if (text === given || text.trim() === '') return undefined;
    this.#draft = text;
    return parsed(text, parse, 'YAML or JSON');
  }
}

/** npm names `vi` to what it runs where nobody has chosen an editor: whoever does not know it would not get out. */
function chosenEditor(): string | undefined {
  const { VISUAL, EDITOR, npm_lifecycle_event: ofNpm } = process.env;
  if (VISUAL) return VISUAL;
  return ofNpm !== undefined && EDITOR === 'vi' ? undefined : EDITOR || undefined;
}

function parsed(text: string, parse: (text: string) => unknown, what: string): Edited {
  let args: unknown;
  try {
    args = parse(text);
  } catch (error) {
    return { fault: `that is not ${what}: ${clean(messageOf(error)).split('\n')[0]}` };
  }
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return { fault: 'arguments are an object' };
  return { args: args as Args };
}

/** The text as somebody leaves it who changes it in an editor. @throws Error if that ends badly */
async function edited(editor: string, text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-edit-'));
  const file = join(folder, 'arguments.yaml');
  const takeBack = keyboard.lend();
  try {
    await writeFile(file, text, { mode: 0o600 });
    await new Promise<void>((resolve, reject) => {
      // A shell, as $EDITOR may hold options; the file comes to it as a word of its own.
      const [program, ...args] =
        process.platform === 'win32' ? [`${editor} "${file}"`] : ['sh', '-c', `${editor} "$1"`, 'sh', file];
      const child = spawn(program ?? '', args, { stdio: 'inherit', shell: process.platform === 'win32' });
      child.once('error', reject);
      child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${editor} ended with ${code}`))));
    });
    return await readFile(file, 'utf8');
  } finally {
    takeBack();
    await rm(folder, { recursive: true, force: true });
  }
}
