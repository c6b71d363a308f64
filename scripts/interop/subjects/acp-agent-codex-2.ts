import { codexHome, codexPatch, tryAgent } from '../acp-agent.ts';
import { subject } from '../subject.ts';

export default subject({
  name: 'codex-acp 2',
  role: 'ACP agent',
  packages: { '@agentclientprotocol/codex-acp': '2.6.0' },
  tryMs: 120_000,
  run: (trial) =>
    tryAgent(trial, {
      // As it starts it reviews by itself.
      options: {
        command: process.execPath,
        args: [trial.bin('@agentclientprotocol/codex-acp')],
        mode: 'read-only',
      },
      settle: (place) => codexHome('on-request', place),
      shell: (cmd) => ({
        name: 'exec_command',
        args: { cmd, sandbox_permissions: 'require_escalated', justification: 'to try' },
      }),
      write: (path, text) => ({ name: 'exec_command', args: { cmd: codexPatch(path, text) } }),
    }),
});
