import type { AnyTool } from 'coxswain';
import { defineTool } from 'coxswain';
import { locateExisting, showPath } from './confine.ts';
import { glob } from './glob.ts';
import { MAX_VISITED, walk } from './walk.ts';

const MAX_LISTED = 500;

export function listFiles(root: string): AnyTool {
  return defineTool({
    name: 'list_files',
    description:
      'Lists the files below a folder of the workspace, one path a line, folders included only through their files. ' +
      `Leaves out .git and node_modules. Shows at most ${MAX_LISTED}.`,
    kind: 'read',
    annotations: { readOnly: true, idempotent: true },
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        path: { type: 'string', description: 'Folder, relative to the workspace. Default: the workspace itself.' },
        pattern: {
          type: 'string',
          description: 'Glob such as *.md (any folder) or src/**/*.{py,go}, relative to path.',
        },
      },
    },
    async execute(args, { signal }) {
      const { path = '.', pattern } = args as { path?: string; pattern?: string };
      const matches = pattern === undefined ? () => true : glob(pattern);
      const start = await locateExisting(root, path);
      const { files, capped } = await walk(start, signal);
      const base = start.path === '.' ? 0 : start.path.length + 1;
      const found = files.filter((file) => matches(file.path.slice(base) || file.path));
      const shown = found.slice(0, MAX_LISTED);
      const lines = shown.map((file) => showPath(file.path) + (file.link ? ' (link)' : ''));
      lines.push(
        shown.length < found.length
          ? `[${shown.length} of ${found.length} files shown: narrow it with path or pattern]`
          : `[${found.length} ${found.length === 1 ? 'file' : 'files'}]`,
      );
      if (capped) lines.push(`[stopped after ${MAX_VISITED} entries: there are more]`);
      return lines.join('\n');
    },
  });
}
