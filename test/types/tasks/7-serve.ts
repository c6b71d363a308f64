import { createHost, run } from 'coxswain';
import { connect } from 'coxswain/client';
import { serve } from 'coxswain/server';
import { clerk, pay } from './bank.ts';

const host = createHost({ app: 'bank', agents: [clerk()], tools: [pay], deps: { paid: [] } });

// #region task
const server = await serve(host, { port: 0, authenticate: () => ({ id: 'ann' }) });
const client = await connect(server.url, { token: 'any' });
// #endregion

const { reason, pending } = await run(await client.open('clerk'), 'Pay 300.');
console.log(reason, pending[0]?.name, client.principal.id);
await client.close();
await server.close();
await host.close();
