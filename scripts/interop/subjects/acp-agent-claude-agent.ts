import { tryAgent } from '../acp-agent.ts';
import { subject } from '../subject.ts';

export default subject({
  name: 'claude-agent-acp',
  role: 'ACP agent',
  packages: { '@agentclientprotocol/claude-agent-acp': '0.101.0' },
  tryMs: 120_000,
  run: (trial) =>
    tryAgent(trial, {
      options: {
        command: process.execPath,
        args: [trial.bin('@agentclientprotocol/claude-agent-acp')],
        // As it starts it decides by itself.
        mode: 'default',
      },
      settle: () => ({}),
      shell: (command) => ({ name: 'Bash', args: { command, description: 'tries a command' } }),
      write: (path, text) => ({ name: 'Write', args: { file_path: path, content: text } }),
    }),
});
