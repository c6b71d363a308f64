import { createHash } from 'node:crypto';
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { AgentDescriptor, JsonSchema } from '../../../contracts/index.ts';
import { CoxswainError } from '../../../contracts/index.ts';
import { fitsSchema, validateArgs } from '../../../gate/index.ts';

/** One agent as a tool of the protocol. */
export interface AgentTool {
  /** Name in the protocol; the agent's own where that is legal. */
  readonly name: string;
  readonly agent: AgentDescriptor;
  /** As callers see it, and what checks what they send. */
  readonly input: StandardSchemaWithJSON;
  /** An object schema that every answer is held to. */
  readonly outputSchema: JsonSchema | undefined;
  /** What the agent is told for some arguments. */
  messageOf(args: Record<string, unknown>): string;
  /** The conversation to go on with. */
  sessionOf(args: Record<string, unknown>): string | undefined;
  /** Nothing new is asked: what came of the conversation is wanted. */
  asksNothing(args: Record<string, unknown>): boolean;
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
  description: 'To continue an earlier conversation: the session_id that its answer gave. Leave it out for a new one.',
};
/** With conversations a prompt is needed for a new one only. */
const PROMPT_OR_SESSION: JsonSchema = {
  type: 'object',
  properties: {
    prompt: {
      type: 'string',
      description:
        'What the agent shall do. With a session_id it may be left out: the answer is what came of that conversation.',
    },
  },
};

/** @throws CoxswainError `INVALID_ARGUMENT / E_SCHEMA` for an input schema that is no object's */
export function mcpToolOf(agent: AgentDescriptor, conversations: boolean): AgentTool {
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
  const asked: JsonSchema = { $schema: DIALECT, ...base, type: 'object' };
  const listed: JsonSchema = own ? asked : { ...asked, ...PROMPT_OR_SESSION, required: undefined };
  const shown = tellsSession
    ? {
        ...withoutUndefined(withSession(listed)),
        properties: { ...(listed.properties as object | undefined), [SESSION_ID]: sessionProperty },
      }
    : asked;
  const asksNothing = (args: Record<string, unknown>) => {
    const { [SESSION_ID]: id, ...rest } = args;
    const names = Object.keys(rest);
    const isBare = names.length === 0 || (!own && names.length === 1 && rest.prompt === '');
    if (!tellsSession || !isBare || typeof id !== 'string' || id === '') return false;
    return !validateArgs({ inputSchema: asked }, {}).ok;
  };
  return {
    name: toolName(agent.name),
    agent,
    input: standardSchema(shown, (value) =>
      asksNothing((value ?? {}) as Record<string, unknown>) ? { value } : checkedArgs(asked, value, tellsSession),
    ),
    outputSchema: agent.outputSchema?.type === 'object' ? agent.outputSchema : undefined,
    tellsSession,
    asksNothing,
    messageOf: (args) => (own ? JSON.stringify(without(args, tellsSession)) : String(args.prompt)),
    sessionOf: (args) => {
      const id = tellsSession ? args[SESSION_ID] : undefined;
      return typeof id === 'string' && id !== '' ? id : undefined;
    },
  };
}

const withoutUndefined = (schema: JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));

/** Its branches take the member too where they are closed to others. */
function withSession(schema: JsonSchema): JsonSchema {
  const branches = (['anyOf', 'oneOf', 'allOf'] as const).filter((keyword) => Array.isArray(schema[keyword]));
  const open = (branch: unknown) => {
    if (typeof branch !== 'object' || branch === null) return branch;
    const { properties = {}, additionalProperties } = branch as JsonSchema;
    const own =
      additionalProperties === undefined ? {} : { properties: { ...(properties as object), [SESSION_ID]: {} } };
    return { ...withSession(branch as JsonSchema), ...own };
  };
  return {
    ...schema,
    ...Object.fromEntries(branches.map((keyword) => [keyword, (schema[keyword] as unknown[]).map(open)])),
  };
}

/** The agent's own members against its own schema, whatever that says of others; the conversation by itself. */
function checkedArgs(schema: JsonSchema, value: unknown, tellsSession: boolean): Checked {
  const args = (value ?? {}) as Record<string, unknown>;
  const { [SESSION_ID]: sessionId } = args;
  if (tellsSession && sessionId !== undefined && typeof sessionId !== 'string') {
    return { issues: [{ message: `${SESSION_ID}: expected string, got ${JSON.stringify(sessionId)}` }] };
  }
  const checked = validateArgs({ inputSchema: schema }, without(args, tellsSession));
  if (!checked.ok) return { issues: [{ message: checked.message }] };
  return {
    value: tellsSession && sessionId !== undefined ? { ...checked.args, [SESSION_ID]: sessionId } : checked.args,
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

type Checked = { value: unknown } | { issues: { message: string }[] };

export function outputSchema(schema: JsonSchema): StandardSchemaWithJSON {
  return standardSchema(schema, (value) =>
    fitsSchema(schema, value) ? { value } : { issues: [{ message: 'it does not fit the output schema' }] },
  );
}

/** A schema as the SDK takes it, checked by the gate's own validator. */
function standardSchema(schema: JsonSchema, validate: (value: unknown) => Checked): StandardSchemaWithJSON {
  const jsonSchema = { input: () => schema, output: () => schema };
  return { '~standard': { version: 1, vendor: 'coxswain', validate, jsonSchema } };
}
