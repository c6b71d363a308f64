import { createHost, readStream } from 'coxswain';
import { clerk, pay } from './bank.ts';

const host = createHost({ app: 'bank', agents: [clerk()], tools: [pay], deps: { paid: [] } });
const session = await host.open('clerk');

// #region task
const { text, result } = readStream(session.stream('Pay 300.'));
for await (const words of text) console.log(words);
// #endregion

console.log((await result()).reason);
await host.close();
