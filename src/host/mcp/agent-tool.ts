import { createHash } from 'node:crypto';
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { AgentDescriptor, JsonSchema } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { compileSchema, validateArgs } from '../../gate/index.ts';

/** One agent as a tool of the protocol. */
export interface AgentTool {
  /** Name in the protocol; the agent's own where that is legal. */
  readonly name: string;
  readonly agent: AgentDescriptor;
  readonly inputSchema: JsonSchema;
  /** An object schema that every answer is held to. */
  readonly outputSchema: JsonSchema | undefined;
  /** What the agent is told for some arguments. */
  messageOf(args: Record<string, unknown>): string;
  /** The conversation to go on with. */
  sessionOf(args: Record<string, unknown>): string | undefined;
  readonly tellsSession: boolean;
}

/** What a schema is here unless it says otherwise. */
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

const PROMPT: JsonSchema = {
  type: 'object',
  properties: { prompt: { type: 'string', minLength: 1, description: 'What the agent shall do.' } },
  required: ['prompt'],
};
const SESSION_ID = 'session_id';
const sessionProperty: JsonSchema = {
  type: 'string',
  description:
    'To go on with an earlier conversation: the session_id that its answer gave. Leave it out for a new one.',
};

/** @throws CoxswainError `INVALID_ARGUMENT / E_SCHEMA` for an input schema that is no object's */
export function agentTool(agent: AgentDescriptor, conversations: boolean): AgentTool {
  const own = agent.inputSchema;
  const base = own ?? PROMPT;
  if (base.type !== undefined && base.type !== 'object') {
    throw new CoxswainError(
      'INVALID_ARGUMENT',
      'E_SCHEMA',
      `agent ${agent.name}: its input schema is of type ${JSON.stringify(base.type)}; a tool of MCP takes an object`,
    );
  }
  const properties = (base.properties ?? {}) as Record<string, unknown>;
  const tellsSession = conversations && !(SESSION_ID in properties);
  const inputSchema = {
    $schema: DIALECT,
    ...base,
    type: 'object',
    ...(tellsSession ? { properties: { ...properties, [SESSION_ID]: sessionProperty } } : {}),
  };
  return {
    name: toolName(agent.name),
    agent,
    inputSchema,
    outputSchema: agent.outputSchema?.type === 'object' ? agent.outputSchema : undefined,
    tellsSession,
    messageOf: (args) => (own ? JSON.stringify(without(args, tellsSession)) : String(args.prompt)),
    sessionOf: (args) => {
      const id = tellsSession ? args[SESSION_ID] : undefined;
      return typeof id === 'string' && id !== '' ? id : undefined;
    },
  };
}

function without(args: Record<string, unknown>, isOurs: boolean): Record<string, unknown> {
  if (!isOurs) return args;
  const { [SESSION_ID]: _, ...rest } = args;
  return rest;
}

const MAX_NAME = 64;

/** The protocol takes letters, digits, `_`, `-` and `.`; of anything else a legal form and a hash of the whole. */
export function toolName(name: string): string {
  if (/^[\w.-]+$/.test(name) && name.length <= MAX_NAME) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 10);
  return `${name.replaceAll(/[^\w.-]+/g, '_').slice(0, MAX_NAME - hash.length - 1)}_${hash}`;
}

/** A schema as the SDK takes it, checked by the gate's own validator. */
export function asStandardSchema(schema: JsonSchema, io: 'input' | 'output'): StandardSchemaWithJSON {
  return {
    '~standard': {
      version: 1,
      vendor: 'coxswain',
      validate: (value) => {
        if (io === 'output') {
          return compileSchema(schema)(value)
            ? { value }
            : { issues: [{ message: 'it does not fit the output schema' }] };
        }
        const checked = validateArgs({ inputSchema: schema }, value);
        return checked.ok ? { value: checked.args } : { issues: [{ message: checked.message }] };
      },
      jsonSchema: { input: () => schema, output: () => schema },
    },
  };
}
