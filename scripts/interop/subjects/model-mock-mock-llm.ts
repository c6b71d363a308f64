import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openaiChatModel } from '../../../src/adapters/models/index.ts';
import { freePort } from '../../../test/adapters/servers.ts';
import { BOTH, PROMPTS, tryModel, WORDS } from '../model-trial.ts';
import { subject } from '../subject.ts';

const toUser = (prompt: string) => `contains(to_string(body.messages[?role=='user'] | [-1].content), '${prompt}')`;

function rule(match: string, status: number, body: unknown, sequence?: number) {
  return {
    path: '/v1/chat/completions',
    match,
    ...(sequence === undefined ? {} : { sequence }),
    response: { status, content: JSON.stringify(body) },
  };
}

function said(message: object, finish_reason = 'stop') {
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
  return { id: 'c', object: 'chat.completion', model: 'm', choices: [{ index: 0, message, finish_reason }], usage };
}

const words = (content: string) => ({ role: 'assistant', content });
const calls = {
  role: 'assistant',
  content: null,
  tool_calls: BOTH.map((where) => ({
    id: `call-${where}`,
    type: 'function',
    function: { name: 'look', arguments: JSON.stringify({ where }) },
  })),
};

/** The last rule that fits is taken. YAML reads JSON. */
const config = {
  streaming: { chunkSize: 3, chunkIntervalMs: 1 },
  rules: [
    rule(toUser(PROMPTS.words), 200, said(words(WORDS))),
    rule(toUser(PROMPTS.calls), 200, said(calls, 'tool_calls')),
    rule(`${toUser(PROMPTS.calls)} && body.messages[-1].role == 'tool'`, 200, said(words('both seen'))),
    rule(toUser(PROMPTS.cut), 200, said(words('half an'), 'length')),
    rule(toUser(PROMPTS.refused), 401, { error: { message: 'no', type: 'invalid_request_error', code: 'no_key' } }),
  ],
};

export default subject({
  name: 'mock-llm',
  role: 'model mock',
  packages: { '@dwmkerr/mock-llm': '0.1.29' },
  async run(trial) {
    const port = await freePort();
    const file = join(trial.folder, 'mock-llm.yaml');
    writeFileSync(file, JSON.stringify(config));
    const child = spawn(process.execPath, [trial.bin('@dwmkerr/mock-llm'), '--config', file], {
      cwd: trial.folder,
      env: { ...process.env, PORT: String(port), HOST: '127.0.0.1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    try {
      await new Promise<void>((resolve, reject) => {
        child.stdout.on('data', (chunk: Buffer) => /running on/.test(String(chunk)) && resolve());
        child.once('exit', (code) => reject(new Error(`it ended with ${code}`)));
      });
      const model = openaiChatModel('m', {
        apiKey: 'a-key',
        baseUrl: `http://127.0.0.1:${port}/v1`,
        retry: { retries: 0 },
      });
      // It streams words alone, and each of its streams ends with `stop`.
      await tryModel(trial, 'chat', model, {
        streamed: ['words', 'refused'],
        whole: ['words', 'calls', 'cut', 'refused'],
      });
    } finally {
      child.kill();
    }
  },
});
