/** For tests of agents and hosts. */
export * from './scripted-model.ts';
