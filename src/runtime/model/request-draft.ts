import type { JsonSchema, ToolDescriptor } from '../../contracts/index.ts';
import type { ModelRequest } from './model.ts';

/** A model request while it is being made. */
export interface RequestDraft extends ModelRequest {
  systemInstruction: string;
  contents: ModelRequest['contents'];
  config: Record<string, unknown>;
  tools: Map<string, ToolDescriptor>;
  outputSchema?: JsonSchema;
}
