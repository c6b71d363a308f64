// The client of a page: says what came of one turn.
import { createHost, run } from 'coxswain';
import { connect } from 'coxswain/client';
import { checkStream } from 'coxswain/contracts';

const refused = () => {
  try {
    return createHost({ app: 'page', agents: [] });
  } catch ({ code }) {
    return code;
  }
};

globalThis.answer = (async () => {
  const remote = await connect(globalThis.address, { token: 'anna' });
  const session = await remote.open('bot', { sessionId: 's', create: true });
  const events = [];
  const { reason, text } = await run(session, 'hi', { onEvent: (event) => events.push(event) });
  await remote.close();
  return JSON.stringify({ reason, text, faults: checkStream(events).length, refused: refused() });
})();
