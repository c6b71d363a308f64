/** What a command works on: flags, agent module, model, policy, store, host. */

export { isMade, loadAgentModule, moduleContext } from './agent-module.ts';
export { BusLag } from './bus-lag.ts';
export { comeBackLine, commandLine, commandName, quote } from './command-line.ts';
export { DATA_FOLDER, dataFolder } from './data-folder.ts';
export type { HostFlags, LimitFlags, RunFlags, StoreFlags } from './flags.ts';
export {
  addCommonFlags,
  addHostFlags,
  addLimitFlags,
  addRunFlags,
  addStoreFlags,
  age,
  limitsFromFlags,
  port,
  positiveWhole,
  storeOption,
  whole,
} from './flags.ts';
export { chooseModel } from './model.ts';
export type { ModuleHost, ModuleHostOptions } from './module-host.ts';
export { closeQuietly, openModuleHost } from './module-host.ts';
export { openNodes } from './nodes.ts';
export {
  DIGEST_LENGTH,
  describeRequest,
  hostOptions,
  openQuestionLines,
  openRequestLines,
  shownDigest,
} from './open-requests.ts';
export { offerOwnPackage } from './own-package.ts';
export { moduleTools, openPolicy, policyWarning, readFlagFile } from './policy-file.ts';
export { promptOf } from './prompt.ts';
export type { Store } from './store.ts';
export { fileOf, isThere, openKeptStore, openWorkspaceStore, shownUrl } from './store.ts';
export type { Overrides, StoredCall } from './stored-call.ts';
export { shownRequest, storedCall } from './stored-call.ts';
