import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sourceFiles } from '../structure/source.ts';
import { root } from './blocks.ts';
import { exampleFaults, site } from './site.ts';

/** What a reader begins with at each entry. */
const main = [
  'createHost',
  'defineTool',
  'defineAgentTool',
  'LlmAgent',
  'agentTool',
  'fromAgent',
  'run',
  'createView',
  'rulePolicy',
  'denyOverrides',
  'loadPolicy',
  'cedarPolicy',
  'opaPolicy',
  'serve',
  'connect',
  'serveMcpHttp',
  'serveMcpStdio',
  'mcpToolset',
  'openStore',
  'openSqlite',
  'openSql',
  'modelFromEnv',
  'fromAcp',
  'exportAudit',
  'verifySession',
  'otelTelemetry',
  'ScriptedModel',
  'conformanceTests',
  'dispatchAgent',
  'generateWithAutoTools',
  'fromGoogleAdk',
  'serveAcp',
  'createHttp',
  'presetPolicy',
  'shadow',
  'subagentTool',
  'SequentialAgent',
  'LoopAgent',
  'ParallelAgent',
  'runOrThrow',
  'textOf',
  'anthropicModel',
  'geminiModel',
  'openaiChatModel',
  'openaiResponsesModel',
  'modelRegistry',
  'serveExecutor',
  'runConformance',
  'runPolicyCases',
  'verifyExport',
];

/** The examples in docstrings, by what they belong to. */
const examples = sourceFiles().flatMap(({ path }) => {
  const text = readFileSync(join(root, 'src', path), 'utf8');
  return [
    ...text.matchAll(
      /\/\*\*(?:(?!\*\/)[\s\S])*?@example\n \* ```ts\n((?: \*.*\n)*?) \* ```\n[\s\S]*?\*\/\nexport (?:async )?(?:function\*?|class|const) (\w+)/g,
    ),
  ].map(([whole, code = '', name = '']) => ({
    name,
    place: `src/${path}:${text.slice(0, text.indexOf(whole)).split('\n').length}`,
    text: `${code.replaceAll(/^ \* ?/gm, '')}\n`,
  }));
});

test('the main exports have an example in their docstring', () => {
  const named = examples.map(({ name }) => name);
  expect(main.filter((name) => !named.includes(name))).toEqual([]);
});

test('the examples in docstrings compile against the package', { timeout: 300_000 }, async () => {
  using home = site();
  expect(await exampleFaults(home.folder, examples)).toEqual([]);
});
