import { tryAgent } from '../acp-agent.ts';
import { subject } from '../subject.ts';

export default subject({
  name: 'claude-code-acp',
  role: 'ACP agent',
  packages: { '@zed-industries/claude-code-acp': '0.16.2' },
  tryMs: 120_000,
  run: (trial) =>
    tryAgent(trial, {
      options: {
        command: process.execPath,
        args: [trial.bin('@zed-industries/claude-code-acp')],
      },
      settle: () => ({}),
      shell: (command) => ({ name: 'Bash', args: { command, description: 'tries a command' } }),
      write: (path, text) => ({ name: 'Write', args: { file_path: path, content: text } }),
    }),
});
