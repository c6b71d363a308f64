/** `npm run fuzz:wires [tries] [seed]`: random streams of each provider; ends with 1 if an answer made of one is wrong. */
import { wires, wrongAnswer } from './streams.ts';

const [tries = 10_000, seed = Date.now() % 1_000_000_000] = process.argv.slice(2).map(Number);
process.on('unhandledRejection', (error) => {
  console.error('a promise was left alone:', error);
  process.exit(1);
});
const found: Record<string, string[]> = {};
for (const [name, wire] of Object.entries(wires)) {
  const faults: string[] = [];
  for (let n = 0; n < tries; n++) {
    const fault = await wrongAnswer(wire, seed + n);
    if (fault !== undefined) faults.push(`seed ${seed + n}: ${fault}`);
  }
  found[name] = faults;
  console.log(`${name}: ${tries} streams from seed ${seed}, ${faults.length} wrong`);
  for (const fault of faults.slice(0, 5)) console.log(fault);
}
process.exitCode = Object.values(found).some((faults) => faults.length > 0) ? 1 : 0;
