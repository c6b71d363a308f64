/** What a model is shown of a log, and what of it is left out to save room. */
export type { Truncated } from '../../gate/index.ts';
export { truncatedOf } from '../../gate/index.ts';
export { clearedResult, excerpt, keptOf, READ_RESULT, textOfResult } from './cleared.ts';
export type { Unit, Viewer } from './history.ts';
export { History, mergeAdjacent, sees, summaryContent } from './history.ts';
export type { Bounds, Clearing, Range } from './plan.ts';
export { planClearing, planSummary, tooMuch, WORTH_SUMMARISING } from './plan.ts';
export { tokensOfContent, tokensOfText } from './tokens.ts';
