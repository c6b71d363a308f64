import { FunctionTools } from '../../src/adapters/auto-tools/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

export const scripted = (...responses: Script[]) => new ScriptedModel({ responses, strict: true });

export const asks = (city: string): Script => ({ text: `looking up ${city}`, calls: [['weather', { city }]] });

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

/** `weather`, which says that it is sunny, and keeps the arguments it was run with. */
export function weather(run: (args: { city: string }) => unknown = ({ city: name }) => `sunny in ${name}`) {
  const ran: string[] = [];
  const tools = new FunctionTools().register<{ city: string }>(
    { name: 'weather', description: 'Weather of a city.', parameters: city },
    (args) => {
      ran.push(args.city);
      return run(args);
    },
  );
  return { tools, ran };
}

export async function failure(work: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  try {
    await work;
  } catch (error) {
    return error as Error & Record<string, unknown>;
  }
  throw new Error('nothing was thrown');
}

/** A promise with its handles. */
export function gate<T = void>() {
  let open: (value: T) => void = () => {};
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}
