import { defineAgentTool, fromAgent, LlmAgent } from 'coxswain';
import { InMemoryCredentialService } from 'coxswain/runtime';
import { ScriptedModel } from 'coxswain/testing';
import type { Print } from './say.ts';
import { say } from './say.ts';

export async function main(print: Print): Promise<void> {
  const forecast = defineAgentTool({
    name: 'forecast',
    description: 'Asks the weather service.',
    inputSchema: { type: 'object' },
    async execute(_, context) {
      const key = await context.getAuthResponse('weather');
      if (key === undefined) {
        context.requestCredential({ key: 'weather', scheme: 'api_key', hint: 'The key of your weather service.' });
        return undefined;
      }
      return 'sunny';
    },
  });
  const model = new ScriptedModel([{ calls: [['forecast']] }, 'It will be sunny.']);
  const source = fromAgent(new LlmAgent({ name: 'mate', model, tools: [forecast] }), {
    services: { credentials: new InMemoryCredentialService() },
  });
  const session = await source.open({}, { app: 'patterns' });
  await say(session, 'How will the weather be?', print);
  const [question] = await session.pending();
  const response = { action: 'accept' as const, content: { credential: 'a-secret-key' } };
  await say(session, { kind: 'elicitation_response', requestId: question?.requestId ?? '', response }, print);

  let history = '';
  for await (const event of session.events()) history += JSON.stringify(event);
  print(`the history holds the key: ${history.includes('a-secret-key')}`);
}
