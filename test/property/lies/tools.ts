import type { AnyTool, Principal, ToolCallContext } from '../../../src/contracts/index.ts';
import { rulePolicy } from '../../../src/index.ts';

export const people: readonly Principal[] = [
  { id: 'boss', roles: ['boss'] },
  { id: 'chief', roles: ['boss'] },
  { id: 'owner', roles: ['boss'] },
  { id: 'anna', roles: ['clerk'] },
  { id: 'eve' },
];

export const isBoss = ({ roles = [] }: Principal): boolean => roles.includes('boss');

export const rules = rulePolicy([
  { tool: 'pay', outcome: 'ask', approvers: { roles: ['boss'] } },
  { tool: 'wire', outcome: 'ask', approvers: { roles: ['boss'], quorum: 2, notRequester: true } },
  { tool: 'late', outcome: 'ask', approvers: { roles: ['boss'] }, expiresIn: 3600 },
  { tool: 'note', outcome: 'ask', approvers: { roles: ['boss'] } },
  { tool: 'sign', outcome: 'allow', role: 'boss' },
  { tool: 'free', outcome: 'allow' },
  { tool: 'peek', outcome: 'allow' },
  { tool: '*', outcome: 'deny' },
]);

/** How many people have to say yes; undefined: nobody is asked. */
export const quorum: Readonly<Record<string, number>> = { pay: 1, late: 1, note: 1, wire: 2 };

/** By their author's word they may run again. */
export const harmless: ReadonlySet<string> = new Set(['note', 'peek']);

export const toolNames = ['pay', 'wire', 'late', 'note', 'sign', 'free', 'peek', 'drop'] as const;

export function tools(ran: (name: string, args: Record<string, unknown>, context: ToolCallContext) => void): AnyTool[] {
  return toolNames.map((name) => ({
    name,
    description: `does ${name}`,
    inputSchema: { type: 'object' },
    ...(name === 'note' ? { annotations: { idempotent: true } } : {}),
    ...(name === 'peek' ? { annotations: { readOnly: true } } : {}),
    execute: (args, context) => {
      ran(name, structuredClone(args) as Record<string, unknown>, context as ToolCallContext);
      return 'done';
    },
  }));
}
