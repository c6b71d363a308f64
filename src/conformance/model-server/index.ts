/** A model endpoint that the kit scripts. */
export { DECOY_KEY } from './decoy-key.ts';
export type { Fault, ModelTurn } from './dialect.ts';
export { OPAQUE_STATE } from './dialect.ts';
export type { FixtureCall, FixtureEntry, FixtureStep } from './fixture.ts';
export { answerFixture, parseFixture } from './fixture.ts';
export type { ModelRequestSeen, ModelServerOptions } from './server.ts';
export { ModelServer } from './server.ts';
