import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import * as contracts from '../src/contracts/schemas/index.ts';

/** Where the generated schemas are kept. */
export const schemaFolder = join(import.meta.dirname, '..', 'spec', 'schema');

/** Public things that cross a boundary, by the name of their file. */
export const published = {
  'agent-descriptor': contracts.agentDescriptor,
  'agent-event': contracts.agentEvent,
  'approval-request': contracts.approvalRequest,
  content: contracts.content,
  'content-part': contracts.contentPart,
  'display-content': contracts.displayContent,
  'hook-result': contracts.hookResult,
  limits: contracts.limits,
  'policy-decision': contracts.policyDecision,
  'policy-request': contracts.policyRequest,
  principal: contracts.principal,
  'reported-request': contracts.reportedRequest,
  'request-answer': contracts.requestAnswer,
  'session-input': contracts.sessionInput,
  'session-summary': contracts.sessionSummary,
  'session-update': contracts.sessionUpdate,
  settlement: contracts.settlement,
  'steer-data': contracts.steerData,
  'stream-end-data': contracts.streamEndData,
  'tool-annotations': contracts.toolAnnotations,
  'tool-descriptor': contracts.toolDescriptor,
  'tool-result': contracts.toolResult,
  'tool-update': contracts.toolUpdate,
  usage: contracts.usage,
} satisfies Record<string, z.ZodType>;

/** File names and texts of the JSON Schemas (2020-12); they refer to one another by relative `$ref`. */
export function generateSchemas(): Map<string, string> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(published)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { target: 'draft-2020-12', io: 'input', uri: fileName });
  return new Map(
    Object.entries(schemas)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, schema]) => [fileName(id), `${JSON.stringify(schema, null, 2)}\n`]),
  );
}

function fileName(id: string): string {
  return `${id}.json`;
}

if (import.meta.main) {
  const files = generateSchemas();
  mkdirSync(schemaFolder, { recursive: true });
  for (const name of readdirSync(schemaFolder)) if (!files.has(name)) rmSync(join(schemaFolder, name));
  for (const [name, text] of files) writeFileSync(join(schemaFolder, name), text);
}
