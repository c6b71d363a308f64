import { createHost, LlmAgent, runOrThrow } from 'coxswain';
import { ScriptedModel } from 'coxswain/testing';
import { text as textSchema } from './schemas.ts';

const model = new ScriptedModel(['{"text":"hello"}']);

// #region task
const bot = new LlmAgent({ name: 'bot', model, instruction: 'Greet.', outputSchema: textSchema });
// #endregion

const host = createHost({ app: 'desk', agents: [bot] });
const { output } = await runOrThrow(await host.open('bot'), 'Hello');
console.log(output?.text.toUpperCase());
await host.close();
