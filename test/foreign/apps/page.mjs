// The client of a page: says what came of one turn.
import { connect } from 'coxswain/adapters/remote';
import { checkStream } from 'coxswain/contracts';
import { run } from 'coxswain/session';

globalThis.answer = (async () => {
  const remote = await connect(globalThis.address, { token: 'anna' });
  const session = await remote.open('bot', { sessionId: 's', create: true });
  const events = [];
  const { reason, text } = await run(session, 'hi', { onEvent: (event) => events.push(event) });
  await remote.close();
  return JSON.stringify({ reason, text, faults: checkStream(events).length });
})();
