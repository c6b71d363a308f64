import type { AnyTool } from 'coxswain';
import { defineTool } from 'coxswain';
import type { DisplayContent } from 'coxswain/contracts';
import type { Place } from './confine.ts';
import { locate, showPath } from './confine.ts';
import { linesOf } from './page.ts';
import { MAX_FILE_BYTES, readText, replaceText } from './text-files.ts';

interface WriteArgs {
  path: string;
  content: string;
  append?: boolean;
}

interface Change {
  place: Place;
  oldText?: string;
  newText: string;
  mode?: number;
}

export function writeFile(root: string): AnyTool {
  return defineTool({
    name: 'write_file',
    description:
      'Writes a text file of the workspace: the whole content, or with append its end. Makes missing folders. ' +
      'The file is replaced at once; readers see the old or the new text, never a part.',
    kind: 'edit',
    // Two appends to one file side by side would lose one of them.
    annotations: { readOnly: false, idempotent: false, exclusive: true },
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['path', 'content'],
      properties: {
        path: { type: 'string', description: 'File, relative to the workspace.' },
        content: { type: 'string', description: 'The text, with its line feeds.' },
        append: { type: 'boolean', description: 'Add to the end of what is there. Default false: replace it.' },
      },
    },
    async preview(args) {
      return [diff(await plan(root, args as unknown as WriteArgs))];
    },
    async execute(args, { signal }) {
      signal.throwIfAborted();
      const change = await plan(root, args as unknown as WriteArgs);
      const { place, oldText, newText, mode } = change;
      await replaceText(place, newText, { signal, ...(mode === undefined ? {} : { mode }) });
      const done = oldText === undefined ? 'Created' : (args as unknown as WriteArgs).append ? 'Added to' : 'Replaced';
      const lines = linesOf(newText).length;
      const text = `${done} ${showPath(place.path)}: it now has ${lines} ${lines === 1 ? 'line' : 'lines'}.`;
      return { content: [{ type: 'text', text }], display: [diff(change)] };
    },
    async onUnknownOutcome({ args }) {
      const { path, content, append } = args as unknown as WriteArgs;
      if (append) return 'ask';
      const found = await locate(root, path)
        .then(readText, () => undefined)
        .catch(() => undefined);
      return found?.text === content.toWellFormed() ? { result: `${path} has the new text.` } : 'ask';
    },
  });
}

/** What a call would do. The preview and the write both come from here, so that they cannot differ. */
async function plan(root: string, { path, content, append = false }: WriteArgs): Promise<Change> {
  if (/[\\/]$/.test(path)) throw new Error(`${showPath(path)} names a folder, not a file.`);
  const place = await locate(root, path);
  // Half of a surrogate pair cannot be stored as UTF-8.
  const written = content.toWellFormed();
  const old = place.exists ? await readText(place) : undefined;
  const newText = append && old !== undefined ? old.text + written : written;
  const bytes = Buffer.byteLength(newText);
  if (bytes > MAX_FILE_BYTES)
    throw new Error(`The file would have ${bytes} bytes; at most ${MAX_FILE_BYTES} are written.`);
  return { place, newText, ...(old === undefined ? {} : { oldText: old.text, mode: old.mode }) };
}

function diff({ place, oldText, newText }: Change): DisplayContent {
  return { type: 'diff', path: place.path, newText, ...(oldText === undefined ? {} : { oldText }) };
}
