import type { AnyTool } from 'coxswain';
import { defineTool } from 'coxswain';
import { locateExisting, showPath } from './confine.ts';
import { formatPage, MAX_PAGE_LINES, PAGE_LINES } from './page.ts';
import { readText } from './text-files.ts';

export function readFile(root: string): AnyTool {
  return defineTool({
    name: 'read_file',
    description:
      'Reads a UTF-8 text file of the workspace page by page. Each line comes as number, tab, text; ' +
      'a note at the end says how to get the next page.',
    kind: 'read',
    annotations: { readOnly: true, idempotent: true },
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['path'],
      properties: {
        path: { type: 'string', description: 'File, relative to the workspace.' },
        offset: { type: 'integer', minimum: 1, description: 'First line, counted from 1. Default 1.' },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_PAGE_LINES,
          description: `Lines of the page. Default ${PAGE_LINES}.`,
        },
      },
    },
    async execute(args) {
      const { path, offset = 1, limit = PAGE_LINES } = args as { path: string; offset?: number; limit?: number };
      const place = await locateExisting(root, path);
      const { text } = await readText(place);
      return formatPage(showPath(place.path), text, offset, limit);
    },
  });
}
