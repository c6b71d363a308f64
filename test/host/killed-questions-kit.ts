import { allowAll, defineTool, LlmAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

export const policy = allowAll();

/** @param hasAsked the log has its call already */
export const clerk = (hasAsked = false) =>
  new LlmAgent({
    name: 'clerk',
    model: new ScriptedModel([...(hasAsked ? [] : [{ calls: [['pay', { eur: 5 }] as const] }]), 'done']),
  });

/** A tool whose handler asks: `elicit` while it runs, `confirm` by ending with a question. Each payment is told. */
export const asker = (how: string, payload: object, tell: (line: string) => void) =>
  defineTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object', properties: { eur: { type: 'number' } } },
    execute: async (_, context) => {
      if (how === 'confirm' && !context.confirmation) return context.requestConfirmation({ hint: 'Sure?', payload });
      if (how === 'elicit' && (await context.elicit?.({ message: 'Really pay?' }))?.action !== 'accept')
        return 'not paid';
      tell('paid');
      return 'paid';
    },
  });
