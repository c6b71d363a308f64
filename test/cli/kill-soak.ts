/** `npm run kill [count] [seed]`: the kill test at many more points. */
import { killAll, killPoints } from './kill.ts';

const count = Number(process.argv[2] ?? 200);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
console.log(`${count} kill points, seed ${seed}`);

let done = 0;
const reports = await killAll(killPoints(seed, count), {
  width: 3,
  seen({ point, faults }) {
    done++;
    for (const fault of faults) console.error(`killed at ${point.watch} ${point.at}: ${fault}`);
    if (done % 20 === 0) console.log(`${done} of ${count}`);
  },
});
const failed = reports.filter(({ faults }) => faults.length > 0).length;
const asked = reports.reduce((sum, report) => sum + report.asked, 0);
const stored = [...Map.groupBy(reports, (report) => report.stored)]
  .sort(([a], [b]) => a - b)
  .map(([events, group]) => `${events}: ${group.length}`);
console.log(`stored events at death — ${stored.join(', ')}`);
console.log(
  `${reports.length - failed} well, ${failed} with faults, ${asked} half-run calls asked about; seed ${seed}`,
);
process.exitCode = failed === 0 ? 0 : 1;
