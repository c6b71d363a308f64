/**
 * One turn of an executor of one's own, without a session:
 * `CHAT_COMPLETIONS_ENDPOINT=… API_KEY=… MODEL_ID=… node examples/executors/main.ts "What time is it?"`
 */
import { inMemoryCallbacks, Message, Tool, TurnRunner } from '../../src/dispatch/index.ts';
import { toolCapableExecutor } from './tool-capable.ts';

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
