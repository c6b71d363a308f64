/** An executor behind a pipe. */
export type { LaunchOptions } from './launch.ts';
export { PROFILE_VERSION, launchExecutor, targetOfCommand } from './launch.ts';
