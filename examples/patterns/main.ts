/** `node examples/patterns/main.ts NAME` */
const names = [
  'sequential',
  'parallel',
  'loop',
  'custom',
  'transfer',
  'agent-tool',
  'sub-agent',
  'memory',
  'artifacts',
  'credentials',
  'plugin',
  'compose',
];

const name = process.argv[2] ?? '';
if (names.includes(name)) {
  const { main } = (await import(`./${name}.ts`)) as { main(print: (line: string) => void): Promise<void> };
  await main((line) => console.log(line));
} else {
  console.error(`usage: node examples/patterns/main.ts ${names.join(' | ')}`);
  process.exitCode = 2;
}
