/** Says, while a program is compiled, what the structured output of an agent or a session is. No such member is there. */
export interface WithOutput<Out> {
  readonly '~output'?: Out;
}

/** The structured output of an agent, a source or a session; `unknown` where it promises none. */
export type OutputFrom<T> = T extends WithOutput<infer Out> ? Out : unknown;
