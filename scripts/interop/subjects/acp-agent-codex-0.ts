import { codexHome, codexPatch, tryAgent } from '../acp-agent.ts';
import { subject } from '../subject.ts';

const exec = (cmd: string) => ({ name: 'exec_command', args: { cmd } });

export default subject({
  name: 'codex-acp 0',
  role: 'ACP agent',
  packages: { '@zed-industries/codex-acp': '0.16.0' },
  tryMs: 120_000,
  run: (trial) =>
    tryAgent(trial, {
      options: { command: process.execPath, args: [trial.bin('@zed-industries/codex-acp')] },
      settle: (place) => codexHome('untrusted', place),
      shell: exec,
      write: (path, text) => exec(codexPatch(path, text)),
    }),
});
