import { z } from 'zod';
import { contentPart, displayContent } from './content.ts';
import { openEnum, record, withMeta } from './open.ts';

/** A JSON Schema (2020-12 unless it says otherwise). */
export const jsonSchema = record;

export const toolKinds = ['read', 'edit', 'delete', 'move', 'search', 'execute', 'fetch', 'other'] as const;
export const toolKind = openEnum(toolKinds);

export const toolAnnotations = z.looseObject({
  /** Changes nothing outside itself. */
  readOnly: z.boolean().optional(),
  /** May destroy what cannot be brought back. */
  destructive: z.boolean().optional(),
  /** Running it twice with one call id has the effect of once. */
  idempotent: z.boolean().optional(),
  /** Its real outcome comes later than the turn. */
  longRunning: z.boolean().optional(),
  /** Runs alone, never beside another call. */
  exclusive: z.boolean().optional(),
  /** Runs with the arguments that it was called with, or not at all: nobody can edit those of a call. */
  fixedArgs: z.boolean().optional(),
  /** Names of tools whose calls of the same batch are settled first, where the agent's runtime runs them. */
  after: z.array(z.string()).optional(),
  category: z.string().optional(),
});

export const toolDescriptor = z.looseObject({
  name: z.string().min(1),
  displayName: z.string().optional(),
  description: z.string(),
  inputSchema: jsonSchema,
  outputSchema: jsonSchema.optional(),
  kind: toolKind.optional(),
  annotations: toolAnnotations.optional(),
  ...withMeta,
});

export const toolErrorTypes = [
  'not_found',
  'invalid_args',
  'denied',
  'cancelled',
  'interrupted',
  'timeout',
  'truncated',
  'too_large',
  'invalid_output',
  'failed',
] as const;
export const toolErrorType = openEnum(toolErrorTypes);

export const tailCall = z.looseObject({ name: z.string(), args: record });

export const toolResult = z.looseObject({
  content: z.array(contentPart),
  structuredContent: z.unknown().optional(),
  display: z.array(displayContent).optional(),
  isError: z.boolean().optional(),
  errorType: toolErrorType.optional(),
  /** Calls that the host runs, through the gate, before this result returns. */
  tailCalls: z.array(tailCall).optional(),
  ...withMeta,
});

export const toolUpdate = z.looseObject({
  status: z.string().optional(),
  content: z.array(contentPart).optional(),
  progress: z.number().optional(),
  total: z.number().optional(),
});
