import { tryAgent } from '../acp-agent.ts';
import { subject } from '../subject.ts';

const settings = (url: string) => ({
  model: 'loopback/m',
  small_model: 'loopback/m',
  autoupdate: false,
  share: 'disabled',
  permission: { bash: 'ask', edit: 'ask' },
  provider: {
    loopback: {
      npm: '@ai-sdk/openai',
      name: 'loopback',
      options: { baseURL: `${url}/v1`, apiKey: 'none' },
      models: { m: { name: 'm', limit: { context: 100_000, output: 1_000 } } },
    },
  },
});

export default subject({
  name: 'opencode',
  role: 'ACP agent',
  // Its launcher picks one of the others; this one is of the platform that this is tried on.
  packages: { 'opencode-ai': '1.18.33' },
  tryMs: 120_000,
  run: (trial) =>
    tryAgent(trial, {
      options: { command: trial.file(`opencode-linux-${process.arch}/bin/opencode`), args: ['acp'] },
      settle: ({ url }) => ({
        OPENCODE_CONFIG_CONTENT: JSON.stringify(settings(url)),
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      }),
      shell: (command) => ({ name: 'bash', args: { command, description: 'tries a command' } }),
      write: (path, text) => ({ name: 'write', args: { filePath: path, content: text } }),
    }),
});
