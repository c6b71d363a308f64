/** What one handle of a session has of its host. */
export type { CalledAgent, CalledAgents, CalledStream, CallersStream, Handle } from './handle.ts';
export type { Hosted } from './hosted.ts';
export type { CalledBy, FrameHost, SessionOwnership, SharedStanding } from './hosted-frame.ts';
export { HostedFrame } from './hosted-frame.ts';
export { loggedCall } from './logged-calls.ts';
