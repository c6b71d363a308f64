import type { CedarValueJson, StatefulAuthorizationCall } from '@cedar-policy/cedar-wasm/nodejs';
import type { PolicyRequest } from '../../contracts/index.ts';
import type { EncodeArgs } from './cedar-schema.ts';
import { UNLISTED } from './cedar-schema.ts';
import { decimalOf, Misfit } from './cedar-types.ts';

export interface RequestOptions {
  encoders: ReadonlyMap<string, EncodeArgs>;
  trustAnnotations: boolean;
  policySet: string;
  schema: string;
}

/**
 * A call as Cedar is asked about it.
 * @throws Misfit for arguments that cannot be told exactly
 */
export function cedarCall(request: PolicyRequest, options: RequestOptions): StatefulAuthorizationCall {
  const { action: name, args = {}, principal } = request;
  const encode = options.encoders.get(name);
  // Nobody has an empty id.
  const user = { type: 'User', id: principal?.id ?? '' };
  const tool = { type: 'Tool', id: name };
  const roles = principal?.roles ?? [];
  const source = request.context?.resource?.source ?? 'host';
  const context = contextOf(request);
  if (encode) context.args = encode(args);
  return {
    principal: user,
    action: { type: 'Action', id: encode ? name : UNLISTED },
    resource: tool,
    context,
    preparsedPolicySetId: options.policySet,
    preparsedSchemaName: options.schema,
    validateRequest: true,
    entities: [
      {
        uid: user,
        attrs: {
          roles,
          ...(principal?.onBehalfOf === undefined ? {} : { onBehalfOf: principal.onBehalfOf }),
        },
        parents: roles.map((id) => ({ type: 'Role', id })),
      },
      {
        uid: tool,
        attrs: toolAttributes(request, source, options.trustAnnotations),
        parents: [{ type: 'Source', id: source }],
      },
    ],
  };
}

function toolAttributes({ action, context }: PolicyRequest, source: string, trusts: boolean) {
  const foreign = source.startsWith('mcp:');
  const { kind, annotations = {} } = context?.resource ?? {};
  // A foreign server says of its tools what it likes.
  const believed = trusts || !foreign;
  return {
    name: action,
    source,
    foreign,
    ...(kind === undefined ? {} : { kind }),
    readOnly: believed && annotations.readOnly === true,
    destructive: !believed || annotations.destructive === true,
    idempotent: believed && annotations.idempotent === true,
  };
}

function contextOf({ principal, principalPath, context = {} }: PolicyRequest): Record<string, CedarValueJson> {
  const agents = context.agentPath ?? principalPath?.slice(principal === undefined ? 0 : 1) ?? [];
  const { id = '', calls, usd } = context.session ?? {};
  return {
    agent: agents.at(-1) ?? '',
    agents: [...agents],
    path: (principalPath ?? agents).join('/'),
    permissionMode: context.permissionMode ?? 'default',
    interactive: context.interactive ?? false,
    session: {
      id,
      ...(calls === undefined ? {} : { calls }),
      ...(usd === undefined ? {} : { usd: costOf(usd) }),
    },
  };
}

/** Rounded up to what can be said: a limit is reached early rather than late. */
function costOf(usd: number): CedarValueJson {
  const cost = decimalOf(Number((Math.ceil(usd * 10_000 - 1e-6) / 10_000).toFixed(4)));
  if (cost === undefined) throw new Misfit('the cost of the session is no number that Cedar can hold');
  return cost;
}
