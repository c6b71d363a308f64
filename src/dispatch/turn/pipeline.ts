import { CoxswainError } from '../../contracts/index.ts';

export type Middleware<Context> = (context: Context, next: () => Promise<void>) => void | Promise<void>;

/**
 * Runs one inside the other. False: one of them returned without calling `next`.
 * @throws whatever one of them throws
 */
export async function runPipeline<Context>(
  steps: readonly Middleware<Context>[],
  context: Context,
  over: () => boolean,
): Promise<boolean> {
  let reached = false;
  const run = async (index: number): Promise<void> => {
    const step = steps[index];
    if (!step || over()) {
      reached = true;
      return;
    }
    let called = false;
    await step(context, () => {
      if (called) {
        throw new CoxswainError('FAILED_PRECONDITION', 'E_DISPATCH_PIPELINE_ERROR', 'next() was called twice');
      }
      called = true;
      return run(index + 1);
    });
  };
  await run(0);
  return reached || over();
}
