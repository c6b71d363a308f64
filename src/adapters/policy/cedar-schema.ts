import type { ActionType, CedarValueJson, RecordType, SchemaJson, Type } from '@cedar-policy/cedar-wasm/nodejs';
import type { ToolDescriptor } from '../../contracts/index.ts';
import { cedarRecord } from './cedar-types.ts';

/** Action of every tool that the schema does not list; its arguments are not shown. */
export const UNLISTED = 'unlisted tool';
/** The group that all actions are in. */
export const ANY_ACTION = 'any tool';

type Attributes = RecordType<string>['attributes'];

const string: Type<string> = { type: 'String' };
const boolean: Type<string> = { type: 'Boolean' };
const strings: Type<string> = { type: 'Set', element: string };
const optional = (type: Type<string>) => ({ ...type, required: false });
const record = (attributes: Attributes): Type<string> => ({ type: 'Record', attributes });

const context: Attributes = {
  agent: string,
  agents: strings,
  path: string,
  permissionMode: string,
  interactive: boolean,
  session: record({
    id: string,
    calls: optional({ type: 'Long' }),
    usd: optional({ type: 'Extension', name: 'decimal' }),
  }),
};

export type EncodeArgs = (args: Readonly<Record<string, unknown>>) => CedarValueJson;

/** The schema of a set of tools, and how the arguments of each are told. */
export interface ToolSchema {
  schema: SchemaJson<string>;
  encoders: ReadonlyMap<string, EncodeArgs>;
}

/** An action for each tool, with the tool's own arguments in its context. */
export function schemaOfTools(tools: readonly ToolDescriptor[]): ToolSchema {
  const encoders = new Map<string, EncodeArgs>();
  const actions: [string, ActionType<string>][] = [
    [ANY_ACTION, {}],
    [UNLISTED, actionOf({})],
  ];
  for (const { name, inputSchema } of tools) {
    // A tool of such a name is asked about as one that is not listed.
    if (name === ANY_ACTION || name === UNLISTED) continue;
    const args = cedarRecord(inputSchema, inputSchema);
    encoders.set(name, (value) => args.encode(value, 'args'));
    actions.push([name, actionOf({ args: args.type })]);
  }
  const entityTypes = {
    User: { memberOfTypes: ['Role'], shape: record({ roles: strings, onBehalfOf: optional(string) }) },
    Role: {},
    Source: {},
    Tool: {
      memberOfTypes: ['Source'],
      shape: record({
        name: string,
        source: string,
        foreign: boolean,
        kind: optional(string),
        readOnly: boolean,
        destructive: boolean,
        idempotent: boolean,
      }),
    },
  };
  return { schema: { '': { entityTypes, actions: Object.fromEntries(actions) } }, encoders };
}

function actionOf(own: Attributes): ActionType<string> {
  return {
    memberOf: [{ id: ANY_ACTION }],
    appliesTo: { principalTypes: ['User'], resourceTypes: ['Tool'], context: record({ ...context, ...own }) },
  };
}
