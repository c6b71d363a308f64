import { createHost, LlmAgent, runOrThrow } from '../../../src/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import { libraries } from './schemas.ts';

const model = () => new ScriptedModel(['{"text":"hello"}']);

/** 2 Define an agent: its output has the type of its schema, in each library. */
export async function outputs(): Promise<string[]> {
  const agents = [
    new LlmAgent({ name: 'zod', model: model(), outputSchema: libraries.zod.text }),
    new LlmAgent({ name: 'valibot', model: model(), outputSchema: libraries.valibot.text }),
    new LlmAgent({ name: 'arktype', model: model(), outputSchema: libraries.arktype.text }),
    new LlmAgent({ name: 'json', model: model(), outputSchema: libraries['JSON Schema'].text }),
  ] as const;
  const host = createHost({ app: 'desk', agents });
  const zod = await runOrThrow(await host.open('zod'), 'go');
  const valibot = await runOrThrow(await host.open('valibot'), 'go');
  const arktype = await runOrThrow(await host.open('arktype'), 'go');
  const json = await runOrThrow(await host.open('json'), 'go');
  // @ts-expect-error no such member
  zod.output?.txt;
  // @ts-expect-error no such agent
  const missing = host.open('zood');
  await missing.catch(() => {});
  return [zod, valibot, arktype, json].map(({ output }) => output?.text ?? 'none');
}
