import type { AnyAgentTool } from './tools.ts';

/** Says, while a program is compiled, what the tools of an agent or a source take from `deps`. No such member is there. */
export interface WithDeps<Deps> {
  readonly '~deps'?: (deps: Deps) => void;
}

/** Not known: nothing is demanded. */
type Known<Deps> = 0 extends 1 & Deps ? unknown : Deps;

/** What an agent, a source or a list of them takes from `deps`: of several, all of it. */
export type DepsFrom<A> = (
  A extends unknown
    ? (deps: A extends { readonly '~deps'?: (deps: infer Deps) => void } ? Known<Deps> : unknown) => void
    : never
) extends (deps: infer All) => void
  ? All
  : unknown;

/** What the handlers, previews and the rest of these tools take from `deps`: of several, all of it. */
export type DepsOfTools<T extends AnyAgentTool> = (
  T extends { readonly execute?: (args: never, context: infer Context) => unknown }
    ? (deps: Context extends { readonly deps: infer Deps } ? Known<Deps> : unknown) => void
    : never
) extends (deps: infer All) => void
  ? All
  : unknown;

/** `deps` as an option: required where tools take something from it. */
export type NeedsDeps<Deps> = unknown extends Deps
  ? { readonly deps?: unknown }
  : {
      /** What tools take; handed to them, never logged. */
      readonly deps: Deps;
    };
