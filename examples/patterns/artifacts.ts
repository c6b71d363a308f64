import { defineAgentTool, fromAgent, LlmAgent } from 'coxswain';
import { InMemoryArtifactService, loadArtifactsTool } from 'coxswain/runtime';
import { ScriptedModel } from 'coxswain/testing';
import type { Print } from './say.ts';
import { say } from './say.ts';

export async function main(print: Print): Promise<void> {
  const draw = defineAgentTool({
    name: 'draw_chart',
    description: 'Draws a chart and keeps it as a file.',
    inputSchema: { type: 'object' },
    async execute(_, context) {
      const version = await context.artifacts.save('chart.csv', {
        mimeType: 'text/csv',
        data: Buffer.from('hour,m\n12,4\n'),
      });
      return { saved: 'chart.csv', version };
    },
  });
  const model = new ScriptedModel([
    { calls: [['draw_chart']] },
    'Your chart is ready.',
    { calls: [['load_artifacts', { names: ['chart.csv'] }]] },
    'High water is at 12.',
  ]);
  const agent = new LlmAgent({ name: 'navigator', model, tools: [draw, loadArtifactsTool()] });
  const source = fromAgent(agent, { services: { artifacts: new InMemoryArtifactService() } });
  const session = await source.open({}, { app: 'patterns' });
  await say(session, 'Draw the tides.', print);
  await say(session, 'When is high water?', print);
}
