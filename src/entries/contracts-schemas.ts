/**
 * zod schemas of what crosses a boundary. Runs anywhere; imports zod.
 * Stability: stable.
 *
 * @packageDocumentation
 */
export {
  agentEvent,
  content,
  hookResult,
  policyDecision,
  policyRequest,
  reportedRequest,
  requestAnswer,
  sessionInput,
  settlement,
  toolDescriptor,
  toolResult,
} from '../contracts/schemas/index.ts';
