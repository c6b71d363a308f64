import type { AnyTool, PolicyEvaluator } from '../src/index.ts';

export const inputSchema = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
} as const;

/** A tool by JSON Schema that says nothing of itself: it is logged as started before it runs, as most are. */
export function adder(execute: (args: { a: number; b: number }) => unknown): AnyTool {
  return { name: 'add', description: 'Adds two numbers.', inputSchema, execute };
}

// Policies of the least cost: what is measured is the way to them and back.
export const allow: PolicyEvaluator = { evaluate: () => ({ outcome: 'allow' }) };
export const ask: PolicyEvaluator = { evaluate: () => ({ outcome: 'ask' }) };
