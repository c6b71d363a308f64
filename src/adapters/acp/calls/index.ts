/** Tool calls and content in the words of the protocol. */
export type { ToldOfCall } from './call.ts';
export { AcpCall } from './call.ts';
export { blocksOf, mediaOfBlock, partOfBlock, textOfBlock } from './content.ts';
export { boundedFrames } from './frames.ts';
export { inputMembers } from './same-call.ts';
export { loadAcpSdk } from './sdk.ts';
export { USAGE_MEMBERS } from './usage-members.ts';
