/**
 * One turn of an executor, without a session: `npm start "What time is it?"`. It asks the server that
 * CHAT_COMPLETIONS_ENDPOINT, API_KEY and MODEL_ID name; without the first a local stand-in answers.
 */
import { inMemoryCallbacks, Message, Tool, TurnRunner } from 'coxswain/dispatch';
import { startStandIn } from './stand-in.ts';
import { toolCapableExecutor } from './tool-capable.ts';

await using _standIn = process.env.CHAT_COMPLETIONS_ENDPOINT ? undefined : await startStandIn();

const clock = new Tool({
  name: 'clock',
  description: 'The present time, UTC.',
  handler: () => new Date().toISOString(),
});

const callbacks = inMemoryCallbacks();
const now = new Date();
const content = process.argv[2] ?? 'What time is it?';
const question = new Message({ id: 'question', role: 'user', content, createdAt: now, updatedAt: now });
callbacks.records.apply({ op: 'store', kind: 'message', value: question });

const runner = new TurnRunner({ ...callbacks, executorCallback: toolCapableExecutor, tools: [clock] });
runner.on('message', ({ aDelta, isComplete }) => process.stdout.write(isComplete ? '\n' : aDelta));
runner.observe('error', (error) => console.error(error.message));
const { status } = await runner.run();
if (status !== 'ack') process.exitCode = 1;
