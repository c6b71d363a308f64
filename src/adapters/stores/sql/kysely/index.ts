/** A database by Kysely: its pool and its driver. Declarations here need its types; elsewhere they must not. */
export { KyselyEngine } from './engine.ts';
export { loadKysely } from './peers.ts';
