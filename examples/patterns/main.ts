/** `npm start` runs all programs of this folder, `npm start NAME` one of them. */
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
  'skills',
];

const [name] = process.argv.slice(2);
if (name === undefined || names.includes(name)) {
  for (const each of name === undefined ? names : [name]) {
    if (name === undefined) console.log(`\n# ${each}`);
    const { main } = (await import(`./${each}.ts`)) as { main(print: (line: string) => void): Promise<void> };
    await main((line) => console.log(line));
  }
} else {
  console.error(`there is no program ${name}; there is ${names.join(', ')}`);
  process.exitCode = 2;
}
