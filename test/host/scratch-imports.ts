export { LlmAgent } from '../../src/index.ts';
export { ScriptedModel } from '../../src/testing/index.ts';
