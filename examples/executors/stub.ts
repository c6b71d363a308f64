import type { DispatchExecutorFn } from 'coxswain/dispatch';

/** The smallest executor there is: says that the work is done. Good for trying out everything around it. */
export const stubExecutor: DispatchExecutorFn = (ctx) => ctx.ack();
