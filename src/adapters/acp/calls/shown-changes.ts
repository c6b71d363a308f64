import type { ToolCallContent } from '@agentclientprotocol/sdk';
import { diffOf } from './content.ts';

/** A change of a file as a question shows it. */
export type Change = Omit<ReturnType<typeof diffOf>, 'type'>;

export function changesOf(content: readonly ToolCallContent[]): Change[] {
  return content.flatMap((block) => {
    if (block.type !== 'diff') return [];
    const { type: _, ...change } = diffOf(block);
    return [change];
  });
}

/** Changes that somebody has said yes to. Each is made once. */
export class AllowedChanges {
  readonly #changes: readonly Change[];
  readonly #made = new Map<string, number>();

  constructor(changes: readonly Change[]) {
    this.#changes = changes;
  }

  has(path: string): boolean {
    return (this.#made.get(path) ?? 0) < this.#of(path).length;
  }

  /**
   * Whether this content is what a change that was shown makes of the file, and takes that change for it.
   * @param current what the file holds; undefined: it cannot be read, or is not there
   */
  take(path: string, content: string, current: string | undefined): boolean {
    if (!this.has(path) || !resultsOf(this.#of(path), current).has(content)) return false;
    this.#made.set(path, (this.#made.get(path) ?? 0) + 1);
    return true;
  }

  #of(path: string): Change[] {
    return this.#changes.filter((change) => change.path === path);
  }
}

/** What a file may hold once one of these changes is made, or all of them in turn. */
function resultsOf(changes: readonly Change[], current: string | undefined): Set<string> {
  const results = changes.flatMap((change) => [
    made(change, current, firstReplaced),
    made(change, current, allReplaced),
  ]);
  for (const replaced of [firstReplaced, allReplaced]) {
    let text: string | undefined = current;
    for (const change of changes) text = text === undefined ? undefined : made(change, text, replaced);
    results.push(text);
  }
  return new Set(results.filter((text) => text !== undefined));
}

type Replacing = (text: string, old: string, by: string) => string;

/** The protocol's change is one of a whole file; many agents tell the place that changes. */
function made({ oldText, newText }: Change, current: string | undefined, replaced: Replacing): string | undefined {
  if (oldText === undefined || current === undefined || current === oldText) return newText;
  return oldText !== '' && current.includes(oldText) ? replaced(current, oldText, newText) : undefined;
}

const firstReplaced: Replacing = (text, old, by) => {
  const at = text.indexOf(old);
  return text.slice(0, at) + by + text.slice(at + old.length);
};

const allReplaced: Replacing = (text, old, by) => text.split(old).join(by);
