import { createHash } from 'node:crypto';
import type { AuthorizationAnswer, SchemaJson } from '@cedar-policy/cedar-wasm/nodejs';
import type {
  AnyTool,
  PolicyDecision,
  PolicyEvaluator,
  PolicyOutcome,
  PolicyRequest,
  ToolDescriptor,
} from '../../contracts/index.ts';
import { CoxswainError, canonicalJson, messageOf, policyOutcome } from '../../contracts/index.ts';
import type { CheckedDecision } from '../../gate/index.ts';
import { describeTool, mergeDecisions, withRedact } from '../../gate/index.ts';
import type { Check, Shape } from '../../session/index.ts';
import {
  anOutcome,
  checkIs,
  checkOptions,
  either,
  flag,
  having,
  list,
  listOf,
  object,
  required,
  text,
} from '../../session/index.ts';
import type { CedarEngine } from './cedar-engine.ts';
import type { CedarPolicySet, CedarSource } from './cedar-policies.ts';
import { readPolicies } from './cedar-policies.ts';
import type { RequestOptions } from './cedar-request.ts';
import { cedarCall } from './cedar-request.ts';
import { schemaOfTools, UNLISTED } from './cedar-schema.ts';

export type { CedarEngine } from './cedar-engine.ts';
export type { CedarSource } from './cedar-policies.ts';

export interface CedarPolicyOptions {
  /** Cedar text, or several files of it. */
  policies: string | readonly CedarSource[];
  /** Named in errors where `policies` is one text. Default `policy.cedar`. */
  file?: string;
  /** The tools that policies are checked against; calls of others are action `unlisted tool`, without arguments. */
  tools: readonly (AnyTool | ToolDescriptor)[];
  /** What a call comes to that no policy speaks about. Default `deny`, as Cedar has it. */
  defaultOutcome?: PolicyOutcome;
  /** Believe the annotations of foreign tools (source `mcp:…`). Default false. */
  trustAnnotations?: boolean;
  /** Default: `@cedar-policy/cedar-wasm/nodejs`, loaded when it is first needed. */
  engine?: CedarEngine;
}

export interface CedarPolicy extends PolicyEvaluator {
  /** Policies that can never apply. */
  readonly warnings: readonly string[];
  /** What the policies were checked against, for editors and other tools. */
  readonly schema: SchemaJson<string>;
}

/**
 * Cedar policies over tool calls. Principal `User::"id"` in `Role::"…"`; one action a tool, all in `Action::"any tool"`;
 * resource `Tool::"name"` in `Source::"host"`; context with `args`, `agent`, `agents`, `path`, `permissionMode`,
 * `interactive`, `session`. A forbid denies; a permit allows, or asks with `@outcome("ask")`; where several permits
 * hold, the strictest counts and their obligations are joined. A policy that fails on a call denies it.
 * @throws CoxswainError `INVALID_ARGUMENT / E_POLICY_FILE`: `file:line: reason`; `FAILED_PRECONDITION /
 *   E_UNSUPPORTED` without the package
 * @example
 * ```ts
 * import { defineTool } from 'coxswain';
 * import { cedarPolicy } from 'coxswain/policy/cedar';
 *
 * const refund = defineTool({
 *   name: 'refund',
 *   description: 'Pays an order back.',
 *   inputSchema: { type: 'object', properties: { order: { type: 'number' } }, required: ['order'] },
 *   execute: ({ order }) => `order ${order} is paid back`,
 * });
 * const policy = await cedarPolicy({
 *   policies: 'permit (principal, action, resource) when { resource.readOnly };',
 *   tools: [refund],
 * });
 * console.log(policy);
 * ```
 */
export async function cedarPolicy(options: CedarPolicyOptions): Promise<CedarPolicy> {
  checkOptions<CedarPolicyOptions>(options, 'cedarPolicy: options', shape);
  const engine = options.engine ?? (await loadEngine());
  const { policies, file } = options;
  const sources =
    typeof policies === 'string' ? [{ text: policies, ...(file === undefined ? {} : { file }) }] : policies;
  const set = readPolicies(engine, sources);
  const descriptors = options.tools.map((tool) => describeTool(tool as AnyTool));
  const { schema, encoders } = schemaOfTools(descriptors);
  const warnings = validated(engine, set, schema);
  const ids = prepare(engine, set.text, schema);
  return new Cedar(
    engine,
    set,
    schema,
    warnings,
    {
      encoders,
      trustAnnotations: options.trustAnnotations ?? false,
      ...ids,
    },
    policyOutcome(options.defaultOutcome) ?? 'deny',
  );
}

const aSource: Check = {
  needs: 'a file: {text, file?}',
  fits: (value) => object.fits(value) && text.fits((value as CedarSource).text),
};
const shape: Shape<CedarPolicyOptions> = {
  policies: required(either(text, listOf(aSource))),
  file: text,
  tools: required(list),
  defaultOutcome: anOutcome,
  trustAnnotations: flag,
  engine: having('policySetTextToParts', 'statefulIsAuthorized'),
};

/** The schema alone, for editors and other tools. @throws CoxswainError `INVALID_ARGUMENT / E_SCHEMA` */
export function cedarSchema(tools: readonly (AnyTool | ToolDescriptor)[]): SchemaJson<string> {
  checkIs(tools, 'cedarSchema: tools', list);
  return schemaOfTools(tools.map((tool) => describeTool(tool as AnyTool))).schema;
}

async function loadEngine(): Promise<CedarEngine> {
  try {
    return await import('@cedar-policy/cedar-wasm/nodejs');
  } catch (cause) {
    throw new CoxswainError(
      'FAILED_PRECONDITION',
      'E_UNSUPPORTED',
      `Cedar policies need the package @cedar-policy/cedar-wasm; install it (${messageOf(cause)})`,
      { cause },
    );
  }
}

function validated(engine: CedarEngine, set: CedarPolicySet, schema: SchemaJson<string>): string[] {
  const answer = engine.validate({ schema, policies: { staticPolicies: set.text } });
  if (answer.type === 'failure') throw set.fault(answer.errors[0] ?? never);
  const [first] = answer.validationErrors;
  if (first) throw set.fault(first.error);
  return answer.validationWarnings.map(({ error }) => {
    const what = error.message.replace(/^for policy `[^`]*`, /, '');
    return `${set.place(error)}: ${what.includes('impossible') ? 'this policy can never apply' : what}`;
  });
}

const never = { message: 'the policies cannot be checked', help: null, code: null, url: null, severity: null };

/** The engine keeps parsed policies for good: equal ones share a name. */
function prepare(engine: CedarEngine, text: string, schema: SchemaJson<string>): { policySet: string; schema: string } {
  const name = createHash('sha256')
    .update(canonicalJson([text, schema]))
    .digest('hex');
  for (const answer of [
    engine.preparsePolicySet(name, { staticPolicies: text }),
    engine.preparseSchema(name, schema),
  ]) {
    if (answer.type === 'success') continue;
    const reason = answer.errors[0]?.message ?? 'the engine took it for malformed';
    throw new CoxswainError('INVALID_ARGUMENT', 'E_POLICY_FILE', `the policies cannot be loaded: ${reason}`);
  }
  return { policySet: name, schema: name };
}

class Cedar implements CedarPolicy {
  readonly warnings: readonly string[];
  readonly schema: SchemaJson<string>;
  readonly #engine: CedarEngine;
  readonly #set: CedarPolicySet;
  readonly #request: RequestOptions;
  readonly #default: CheckedDecision;

  constructor(
    engine: CedarEngine,
    set: CedarPolicySet,
    schema: SchemaJson<string>,
    warnings: readonly string[],
    request: RequestOptions,
    defaultOutcome: PolicyOutcome,
  ) {
    this.#engine = engine;
    this.#set = set;
    this.schema = schema;
    this.warnings = warnings;
    this.#request = request;
    this.#default = Object.freeze({ outcome: defaultOutcome, reason: 'No policy speaks about this call.' });
  }

  evaluate(request: PolicyRequest): PolicyDecision | Promise<PolicyDecision> {
    try {
      const answer = this.#engine.statefulIsAuthorized(cedarCall(request, this.#request));
      const decide = (given: AuthorizationAnswer) => this.#hidden(this.#decision(given), request.action);
      return answer instanceof Promise ? answer.then(decide, failed) : decide(answer);
    } catch (error) {
      return failed(error);
    }
  }

  /** On a deny, the engine names no permit: whether one held that hides something is not known. */
  #hidden(decision: PolicyDecision, action: string): PolicyDecision {
    if (decision.outcome !== 'deny') return decision;
    return withRedact(decision, this.#set.hiddenOf(this.#request.encoders.has(action) ? action : UNLISTED));
  }

  #decision(answer: AuthorizationAnswer): PolicyDecision {
    try {
      if (answer.type !== 'success') return failed(new Error(answer.errors[0]?.message ?? 'no reason was given'));
      const { decision, diagnostics } = answer.response;
      const [broken] = diagnostics.errors;
      if (broken) {
        // A forbid that fails is skipped by the engine: that must not let a call pass.
        const { ruleId } = this.#of(broken.policyId);
        // It quotes what it failed on, which may be of the arguments that audits hide.
        const what = broken.error.message.replaceAll(/`[^`]*`/g, '…');
        return { ...failed(new Error(what)), ...(ruleId === undefined ? {} : { ruleId }) };
      }
      const deciding = inOrder(diagnostics.reason).map((id) => this.#of(id));
      if (decision === 'allow' && deciding.length > 0) return deciding.reduce(mergeDecisions);
      const denials = deciding.filter(({ outcome }) => outcome === 'deny');
      if (decision !== 'deny' || denials.length < deciding.length) {
        return failed(new Error('an answer that contradicts itself'));
      }
      return denials.find(({ reason }) => reason !== undefined) ?? denials[0] ?? this.#default;
    } catch (error) {
      return failed(error);
    }
  }

  #of(engineId: string): CheckedDecision {
    const decision = this.#set.decisions.get(engineId);
    if (!decision) throw new Error(`the engine names a policy that is not there: ${engineId}`);
    return decision;
  }
}

/** The engine names policies by their number, and those that hold in any order. */
function inOrder(ids: readonly string[]): readonly string[] {
  return ids.toSorted((a, b) => Number(a.slice('policy'.length)) - Number(b.slice('policy'.length)));
}

function failed(error: unknown): PolicyDecision {
  return { outcome: 'deny', reason: `Cedar gave no decision: ${messageOf(error)}`, redact: [''] };
}
