/** An executor behind a pipe. */
export type { LaunchOptions } from './launch.ts';
export { launchExecutor, PROFILE_VERSION, targetOfCommand } from './launch.ts';
