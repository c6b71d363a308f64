import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tryAgent } from '../acp-agent.ts';
import { subject } from '../subject.ts';

/** A key, no update, nothing told to anybody. */
const settings = {
  security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, disableAutoUpdate: true },
};

export default subject({
  name: 'gemini-cli',
  role: 'ACP agent',
  packages: { '@google/gemini-cli': '0.61.0' },
  tryMs: 120_000,
  run: (trial) =>
    tryAgent(trial, {
      options: {
        command: process.execPath,
        args: [trial.bin('@google/gemini-cli'), '--acp', '--model', 'gemini-2.5-flash'],
        authMethod: 'gemini-api-key',
      },
      settle({ home }) {
        mkdirSync(join(home, '.gemini'));
        writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify(settings));
        return { GEMINI_CLI_NO_RELAUNCH: '1' };
      },
      shell: (command) => ({ name: 'run_shell_command', args: { command, description: 'tries a command' } }),
      write: (path, text) => ({ name: 'write_file', args: { file_path: path, content: text } }),
    }),
});
