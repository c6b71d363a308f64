/** What turns are held to: options, budget, principal, mode, remembered answers. */

export type { AdmissionLimits } from './admission.ts';
export { Entrance } from './admission.ts';
export type { OnAgentChanged, PresentAgent } from './agent-version.ts';
export { approvedForVersion, presentAgent } from './agent-version.ts';
export type { Budget } from './budget.ts';
export { budgetOf } from './budget.ts';
export type { BusyClock } from './busy-clock.ts';
export { startClock } from './busy-clock.ts';
export type { Holder } from './held.ts';
export { held, tellMade } from './held.ts';
export { hostContext } from './host-context.ts';
export { checkAudit, checkHost, checkOpen, checkWork, source } from './host-shape.ts';
export type { AnswerFor, AuditOptions, HostOptions, OpenOptions } from './options.ts';
export { DEFAULT_TOOL_TIMEOUT_MS } from './options.ts';
export { faultOfPrincipal } from './principal.ts';
export type { Remembered, RememberedFor } from './remembered.ts';
export { defaultPolicy, firstOf, isRulePolicy, RememberedRules, sessionPolicy } from './remembered.ts';
export { isTighter, stricterMode, strictnessOf } from './stricter-mode.ts';
export { usageOfSubagent } from './subagent-usage.ts';
export type { HeldTo } from './turn-terms.ts';
export { beginTurn, forBoth, goOnWithTurn, onBehalfOf } from './turn-terms.ts';
