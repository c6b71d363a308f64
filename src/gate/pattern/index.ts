/** Regular expressions of schemas and rules, with bounded effort. */
export { charge, spend, Undecided, withEffort } from './effort.ts';
export { boundedTest, faultOfPattern, MAX_PATTERN_INPUT } from './pattern.ts';
