import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * What the types of this package cost an editor: type instantiations of fixed programs, beside a plain one that declares
 * the same tools by interfaces of its own and `z.infer`. A program of 30 tools may cost twice the plain one of 30. Each is
 * compiled with few and with many tools: what a further tool costs, and what the package costs without any, is said too.
 * Counts, not times: they are the same on every machine. Ends with 1 where one is above. `node bench/types.ts`
 */

const root = join(import.meta.dirname, '..');
const compiler = join(root, 'node_modules/typescript/bin/tsc');
const [FEW, MANY] = [10, 40];
/** Tools of the programs that are held against each other, and how often the plain one's cost theirs may be. */
const [TOOLS, LIMIT] = [30, 2];

const members = [
  'id: z.string(), amount: z.number().positive(), tags: z.array(z.string())',
  'to: z.object({ name: z.string(), iban: z.string() })',
].join(', ');
const zodSchema = `z.object({ ${members} })`;
const jsonSchema = `{ type: 'object', properties: { id: { type: 'string' }, amount: { type: 'number' },
  kind: { enum: ['a', 'b'] }, tags: { type: 'array', items: { type: 'string' } } }, required: ['id', 'amount'] }`;
const handler = 'execute: ({ id, amount }) => id + amount';

type Text = (tools: number) => string;
const each = (tools: number, text: (at: number) => string): string =>
  Array.from({ length: tools }, (_, at) => text(at)).join('\n');
const all: Text = (tools) => each(tools, (at) => `t${at},`);
const ours = (schema: string): Text => {
  const tool = (at: number) =>
    `const t${at} = defineTool({ name: 'tool_${at}', description: 'x', inputSchema: ${schema}, ${handler} });`;
  return (tools) => `import { z } from 'zod';
import { createHost, defineTool, LlmAgent, policyFor, run } from 'coxswain';
${each(tools, tool)}
export const all = [${all(tools)}];
`;
};

const plain: Text = (tools) => `import { z } from 'zod';
interface Tool<A> { name: string; description: string; inputSchema: unknown; execute(args: A): unknown }
${each(
  tools,
  (at) => `const s${at} = ${zodSchema};
const t${at}: Tool<z.infer<typeof s${at}>> = { name: 'tool_${at}', description: 'x', inputSchema: s${at}, ${handler} };`,
)}
export const all = [${all(tools)}];
`;

interface Program {
  readonly does: string;
  readonly text: Text;
}

const programs: readonly Program[] = [
  { does: 'tools with zod schemas', text: ours(zodSchema) },
  { does: 'tools with JSON Schemas', text: ours(jsonSchema) },
  {
    does: 'a host with them: open, run',
    text: (tools) => `${ours(zodSchema)(tools)}
const agents = [new LlmAgent({ name: 'a', outputSchema: z.object({ a: z.string() }) }), new LlmAgent({ name: 'b' })] as const;
export const host = createHost({ app: 'x', agents, tools: [${all(tools)}] });
export const result = await run(await host.open('a'), 'x');
export const a = result.output?.a.length;
`,
  },
  {
    does: 'a policy in code for them',
    text: (tools) => `${ours(zodSchema)(tools)}
export const policy = policyFor([${all(tools)}], {
${each(tools, (at) => `tool_${at}: ({ amount }) => (amount > ${at} ? 'ask' : undefined),`)}
});
`,
  },
];

function instantiations(folder: string, text: string): number {
  const compilerOptions = {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    target: 'es2024',
    module: 'nodenext',
    types: ['node'],
    skipLibCheck: true,
  };
  writeFileSync(join(folder, 'app.mts'), text);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['app.mts'] }));
  const said = execFileSync(process.execPath, [compiler, '-p', folder, '--extendedDiagnostics'], { encoding: 'utf8' });
  const [, count] = /^Instantiations: +(\d+)/m.exec(said) ?? [];
  if (count === undefined) throw new Error(`the compiler says nothing of instantiations: ${said}`);
  return Number(count);
}

/** What a further tool costs, and what is there without any. */
function costs(folder: string, text: Text): { tool: number; fixed: number } {
  const [few, many] = [instantiations(folder, text(FEW)), instantiations(folder, text(MANY))];
  const tool = (many - few) / (MANY - FEW);
  return { tool, fixed: few - FEW * tool };
}

const folder = mkdtempSync(join(tmpdir(), 'coxswain-types-'));
try {
  const place = join(folder, 'node_modules/coxswain');
  mkdirSync(place, { recursive: true });
  for (const name of ['zod', '@types', 'undici-types'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name), 'dir');
  cpSync(join(root, 'package.json'), join(place, 'package.json'));
  execFileSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.build.json'), '--outDir', join(place, 'dist')]);
  const bare = costs(folder, plain);
  const whole = (cost: typeof bare) => cost.fixed + TOOLS * cost.tool;
  console.log(
    `instantiations of ${TOOLS} tools; plain: ${whole(bare).toFixed(0)}, a further tool ${bare.tool.toFixed(0)}`,
  );
  for (const { does, text } of programs) {
    const cost = costs(folder, text);
    const times = whole(cost) / whole(bare);
    const isMet = times <= LIMIT;
    if (!isMet) process.exitCode = 1;
    const of = `a further tool ${(cost.tool / bare.tool).toFixed(2)}×, without any ${cost.fixed.toFixed(0)}`;
    console.log(`${does.padEnd(28)} ${times.toFixed(2)}×, ≤ ${LIMIT}×: ${isMet ? 'met' : 'missed'}  (${of})`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
