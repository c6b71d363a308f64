/**
 * The client that the protocol's own suite judges: this package's toolset behind a host, under its gate. The suite starts
 * it with the address of a server of its own, and says in the environment which scenario it is.
 */
import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import type { McpToolset } from '../../src/adapters/tools/mcp.ts';
import { mcpToolset } from '../../src/adapters/tools/mcp.ts';
import type { ToolDescriptor } from '../../src/index.ts';
import { createHost, LlmAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

interface Given {
  toolCalls?: { name: string; arguments: Record<string, unknown> }[];
  client_id?: string;
  client_secret?: string;
}

/** A scenario may refuse what each sign-in brought: nobody asks a person a fourth time. */
const MAX_SIGN_INS = 3;
const REDIRECT = 'http://localhost:9/callback';
/** Where the suite looks for a client that is known by the address of its metadata. */
const METADATA = 'https://conformance-test.local/client-metadata.json';

/** Signs in as a browser would in which somebody says yes at once. */
function browser({ client_id, client_secret }: Given) {
  const kept: { tokens?: unknown; client?: unknown; verifier?: string; callback?: URLSearchParams } = {};
  if (client_id !== undefined) kept.client = { client_id, ...(client_secret ? { client_secret } : {}) };
  let times = 0;
  const byIssuer = new Map<string, unknown>();
  const provider: OAuthClientProvider = {
    redirectUrl: REDIRECT,
    clientMetadataUrl: METADATA,
    clientMetadata: {
      client_name: 'coxswain',
      redirect_uris: [REDIRECT],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      application_type: 'native',
    } as never,
    clientInformation: (context?: { issuer?: string }) =>
      (context?.issuer === undefined ? kept.client : (byIssuer.get(context.issuer) ?? given(kept.client))) as never,
    saveClientInformation(client: unknown, context?: { issuer?: string }) {
      if (context?.issuer === undefined) kept.client = client;
      else byIssuer.set(context.issuer, client);
    },
    tokens: () => kept.tokens as never,
    saveTokens(tokens: unknown) {
      kept.tokens = tokens;
    },
    codeVerifier: () => kept.verifier ?? '',
    saveCodeVerifier(verifier: string) {
      kept.verifier = verifier;
    },
    invalidateCredentials(scope: string) {
      if (scope === 'all' || scope === 'tokens') delete kept.tokens;
    },
    async redirectToAuthorization(url: URL) {
      times += 1;
      const { headers } = await fetch(url, { redirect: 'manual' });
      const back = headers.get('location');
      if (back !== null) kept.callback = new URL(back).searchParams;
    },
  };
  const given = (client: unknown) => (client_id === undefined ? undefined : client);
  return {
    provider,
    /** How often it was sent to the place where one signs in. */
    times: () => times,
    /** What the browser came back with since it was asked last. */
    callback(): URLSearchParams | undefined {
      const { callback } = kept;
      delete kept.callback;
      return callback;
    },
  };
}

/** Values that fit: the suite looks at what is sent, not at what it says. */
function sampleOf({ inputSchema }: ToolDescriptor): Record<string, unknown> {
  const { properties = {}, required = [] } = inputSchema as {
    properties?: Record<string, { type?: string; enum?: unknown[]; default?: unknown }>;
    required?: string[];
  };
  const values: Record<string, unknown> = { number: 5, integer: 5, boolean: true, array: [], object: {} };
  return Object.fromEntries(
    required.map((name) => {
      const { type = 'string', default: usual, enum: words } = properties[name] ?? {};
      return [name, usual ?? words?.[0] ?? values[type] ?? 'a text'];
    }),
  );
}

const address = process.argv.at(-1) ?? '';
const given = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as Given;
const person = browser(given);
await using toolset = mcpToolset({
  url: address,
  name: 'suite',
  authProvider: person.provider,
  warn: (text) => console.error(text),
});

/** Tries again after each sign-in that was asked for on the way. */
async function signedIn<T>(work: (toolset: McpToolset) => Promise<T>): Promise<T> {
  for (;;) {
    const outcome = await work(toolset).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    const callback = person.callback();
    if (callback !== undefined && person.times() < MAX_SIGN_INS) {
      await toolset.finishAuth(callback);
      continue;
    }
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  }
}

async function call(name: string, args: Record<string, unknown>): Promise<void> {
  const model = new ScriptedModel([{ calls: [[name, args]] }, { text: 'done' }]);
  const host = createHost({
    app: 'suite',
    agents: [new LlmAgent({ name: 'agent', model })],
    toolProviders: [toolset],
    onElicitation: () => ({ kind: 'elicitation', action: 'accept', content: {} }),
    onApproval: () => ({ kind: 'approve' }),
  });
  const session = await host.open('agent');
  for await (const event of session.stream('go')) {
    if (event.type === 'tool_response') console.log(name, JSON.stringify(event.content));
  }
}

const tools = await signedIn(async (it) => it.getToolsForAgent('agent'));
console.log('tools', tools.map(({ name }) => name).join(' '));
/** One scenario wants to see what became of a schema on its way. */
const seen = tools.find(({ name }) => name === 'json_schema_2020_12_tool')?.inputSchema;
const calls =
  given.toolCalls ??
  tools.map((tool) => ({
    name: tool.name,
    arguments: tool.name === 'json_schema_echo' ? { schema: seen } : sampleOf(tool),
  }));
for (const { name, arguments: args } of calls) await signedIn(() => call(name, args));
process.exit(0);
