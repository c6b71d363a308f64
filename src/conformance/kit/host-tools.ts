import type { ToolDescriptor, ToolResult } from '../../contracts/index.ts';

/** Tools that the kit offers as the host of an executor. */
export const hostTools: readonly ToolDescriptor[] = [
  {
    name: 'echo',
    description: 'Gives back what it is given.',
    inputSchema: { type: 'object' },
    annotations: { readOnly: true },
  },
  {
    name: 'add',
    description: 'Adds two whole numbers.',
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'integer' } },
      required: ['a', 'b'],
    },
    annotations: {},
  },
];

/** A result with one text. */
export function textResult(text: string, extra: Omit<ToolResult, 'content'> = {}): ToolResult {
  return { content: [{ type: 'text', text }], ...extra };
}
