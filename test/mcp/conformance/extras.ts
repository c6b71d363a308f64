/** What the suite wants of a server beyond tools that are agents: made with the SDK, served by our layer. */
import type { ClientCapabilities, McpServer, ServerContext } from '@modelcontextprotocol/server';
import {
  CLIENT_CAPABILITIES_META_KEY,
  completable,
  inputRequired,
  inputResponse,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { McpOptions } from '../../../src/host/mcp/index.ts';
import { pixel } from './agents.ts';

type Form = Parameters<typeof inputRequired.elicit>[0];
type State = Parameters<NonNullable<McpOptions['configure']>>[1];

const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });
const answers = (context: ServerContext, key: string) => inputResponse(context.mcpReq.inputResponses, key);
const flat = (properties: object, required: string[] = []): Form['requestedSchema'] =>
  ({ type: 'object', properties, required }) as Form['requestedSchema'];
const named = flat({ name: { type: 'string' } }, ['name']);

function declaredBy(context: ServerContext): ClientCapabilities | undefined {
  return (context.mcpReq.envelope as Record<string, ClientCapabilities> | undefined)?.[CLIENT_CAPABILITIES_META_KEY];
}

export function extras(server: McpServer, state: State): void {
  server.server.registerCapabilities({ logging: {}, resources: { subscribe: true } });
  resources(server);
  prompts(server);
  logging(server);
  questions(server);
  manyQuestions(server, state);
}

function resources(server: McpServer): void {
  const read = (uri: string, rest: { text: string } | { blob: string }, mimeType: string) => () => ({
    contents: [{ uri, mimeType, ...rest }],
  });
  const words = 'This is the content of the static text resource.';
  const meta = (mimeType: string) => ({ description: 'For the suite.', mimeType });
  server.registerResource(
    'text',
    'test://static-text',
    meta('text/plain'),
    read('test://static-text', { text: words }, 'text/plain'),
  );
  server.registerResource(
    'png',
    'test://static-binary',
    meta('image/png'),
    read('test://static-binary', { blob: pixel }, 'image/png'),
  );
  server.registerResource(
    'watched',
    'test://watched-resource',
    meta('text/plain'),
    read('test://watched-resource', { text: 'x' }, 'text/plain'),
  );
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, meta('application/json'), (uri, { id }) => ({
    contents: [
      {
        uri: uri.href,
        mimeType: 'application/json',
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
      },
    ],
  }));
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
}

function prompts(server: McpServer): void {
  const user = (content: object) => ({ role: 'user' as const, content: content as { type: 'text'; text: string } });
  const say = (words: string) => user({ type: 'text', text: words });
  const description = 'For the suite.';
  server.registerPrompt('test_simple_prompt', { description }, () => ({
    messages: [say('This is a simple prompt for testing.')],
  }));
  const city = completable(z.string().describe('First test argument'), (value) =>
    ['paris', 'park', 'party'].filter((word) => word.startsWith(value)),
  );
  const args = z.object({ arg1: city, arg2: z.string().describe('Second test argument') });
  server.registerPrompt('test_prompt_with_arguments', { description, argsSchema: args }, ({ arg1, arg2 }) => ({
    messages: [say(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  }));
  const uri = z.object({ resourceUri: z.string().describe('URI of the resource to embed') });
  server.registerPrompt('test_prompt_with_embedded_resource', { description, argsSchema: uri }, ({ resourceUri }) => ({
    messages: [
      user({
        type: 'resource',
        resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
      }),
      say('Please process the embedded resource above.'),
    ],
  }));
  server.registerPrompt('test_prompt_with_image', { description }, () => ({
    messages: [user({ type: 'image', data: pixel, mimeType: 'image/png' }), say('Please analyze the image above.')],
  }));
  server.registerPrompt('test_input_required_result_prompt', { description }, (context) => {
    if (answers(context, 'user_context').kind === 'elicit') return { messages: [say('with context')] };
    const form = {
      message: 'What context should the prompt use?',
      requestedSchema: flat({ context: { type: 'string' } }, ['context']),
    };
    return inputRequired({ inputRequests: { user_context: inputRequired.elicit(form) } });
  });
}

function logging(server: McpServer): void {
  for (const name of ['test_tool_with_logging', 'test_logging_tool']) {
    server.registerTool(name, { description: 'Logs.' }, async (context) => {
      for (const word of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await context.mcpReq.log('info', word);
      }
      return text('logged');
    });
  }
  server.registerTool('test_streaming_elicitation', { description: 'Asks in a stream.' }, async (context) => {
    await context.mcpReq.notify({ method: 'notifications/progress', params: { progressToken: 0, progress: 1 } });
    if (answers(context, 'name').kind === 'elicit') return text('answered');
    return inputRequired({
      inputRequests: { name: inputRequired.elicit({ message: 'Who?', requestedSchema: named }) },
    });
  });
  server.registerTool('test_missing_capability', { description: 'Needs sampling.' }, () =>
    inputRequired({ inputRequests: { sample: sample('Can you?') } }),
  );
}

const sample = (words: string) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: words } }], maxTokens: 100 });

/** A tool that asks one thing and tells what it was answered. */
function asking(
  server: McpServer,
  name: string,
  key: string,
  form: (args: Record<string, unknown>) => Form,
  inputSchema = z.object({}),
): void {
  server.registerTool(name, { description: 'Asks.', inputSchema: inputSchema.loose() }, (args, context) => {
    const reply = answers(context, key);
    if (reply.kind === 'elicit') return text(`action=${reply.action}, content=${JSON.stringify(reply.content ?? {})}`);
    return inputRequired({ inputRequests: { [key]: inputRequired.elicit(form(args)) } });
  });
}

function questions(server: McpServer): void {
  asking(server, 'test_input_required_result_elicitation', 'user_name', () => ({
    message: 'What is your name?',
    requestedSchema: named,
  }));
  const username = { type: 'string', description: "User's response" };
  const email = { type: 'string', description: "User's email address" };
  const message = z.object({ message: z.string() });
  asking(
    server,
    'test_elicitation',
    'user',
    (args) => ({
      message: String(args.message),
      requestedSchema: flat({ username, email }, ['username', 'email']),
    }),
    message as never,
  );
  asking(server, 'test_elicitation_sep1034_defaults', 'user', () => ({
    message: 'Please check',
    requestedSchema: flat({
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }),
  }));
  const three = ['option1', 'option2', 'option3'];
  const titled = ['First', 'Second', 'Third'].map((word, n) => ({ const: `value${n + 1}`, title: `${word} Option` }));
  asking(server, 'test_elicitation_sep1330_enums', 'user', () => ({
    message: 'Please choose',
    requestedSchema: flat({
      untitledSingle: { type: 'string', enum: three },
      titledSingle: { type: 'string', oneOf: titled },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: three } },
      titledMulti: { type: 'array', items: { anyOf: titled } },
    }),
  }));
  server.registerTool(
    'test_sampling',
    { description: 'Samples.', inputSchema: z.object({ prompt: z.string() }) },
    ({ prompt }, context) => {
      const reply = answers(context, 'sample');
      if (reply.kind === 'sampling') return text(`LLM response: ${JSON.stringify(reply.result.content)}`);
      return inputRequired({ inputRequests: { sample: sample(prompt) } });
    },
  );
}

function manyQuestions(server: McpServer, state: State): void {
  server.registerTool('test_input_required_result_sampling', { description: 'Samples.' }, (context) => {
    const reply = answers(context, 'capital_question');
    if (reply.kind === 'sampling') return text(JSON.stringify(reply.result.content));
    return inputRequired({ inputRequests: { capital_question: sample('What is the capital of France?') } });
  });
  server.registerTool('test_input_required_result_list_roots', { description: 'Asks for roots.' }, (context) => {
    const reply = answers(context, 'client_roots');
    if (reply.kind === 'roots') return text(reply.roots.map(({ uri }) => uri).join(' '));
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  });
  server.registerTool('test_input_required_result_multiple_inputs', { description: 'Asks all.' }, async (context) => {
    if (context.mcpReq.requestState() !== undefined) return text('all answered');
    return inputRequired({
      inputRequests: {
        user_name: inputRequired.elicit({ message: 'What is your name?', requestedSchema: named }),
        greeting: sample('Generate a greeting'),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await state.mint({ round: 1 }, context),
    });
  });
  server.registerTool(
    'test_input_required_result_capabilities',
    { description: 'Asks what can be asked.' },
    (context) => {
      const declared = declaredBy(context) ?? {};
      return inputRequired({
        inputRequests: {
          ...(declared.sampling ? { greeting: sample('Generate a greeting') } : {}),
          ...(declared.elicitation ? { name: inputRequired.elicit({ message: 'Who?', requestedSchema: named }) } : {}),
        },
      });
    },
  );
}
