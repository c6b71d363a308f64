import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface GeminiStep {
  text?: string;
  calls?: readonly (readonly [name: string, args: object])[];
}

interface GeminiRequest {
  contents?: { role?: string; parts?: { text?: string; functionResponse?: object }[] }[];
  tools?: unknown;
}

/** A Gemini server on loopback that says what was written down, and records what it was asked. */
export interface GeminiServer extends AsyncDisposable {
  url: string;
  requests: GeminiRequest[];
  /** Paths that it was asked for, in order. */
  paths: string[];
}

export async function geminiServer(steps: readonly GeminiStep[]): Promise<GeminiServer> {
  const requests: GeminiRequest[] = [];
  const paths: string[] = [];
  let at = 0;
  const server = createServer((request, response) => {
    paths.push(`${request.method} ${request.url?.split('?')[0]}`);
    void answer(request, response);
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request);
    if (/countTokens/.test(request.url ?? '')) {
      json(response, { totalTokens: 10 });
      return;
    }
    if (!/:(streamG|g)enerateContent/.test(request.url ?? '')) {
      json(response, {});
      return;
    }
    const asked = JSON.parse(body) as GeminiRequest;
    // Side questions of the agent (which model, a title) have no tools: they take no step of the script.
    if (!asked.tools) {
      json(
        response,
        chunkOf({ text: '{"reasoning":"none","model_choice":"flash"}' }),
        /stream/.test(request.url ?? ''),
      );
      return;
    }
    requests.push(asked);
    json(response, chunkOf(steps[at++] ?? { text: 'nothing more' }), /stream/.test(request.url ?? ''));
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    paths,
    [Symbol.asyncDispose]: () => close(server),
  };
}

function chunkOf({ text, calls = [] }: GeminiStep): object {
  const parts = [
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map(([name, args]) => ({ functionCall: { name, args } })),
  ];
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 },
    modelVersion: 'scripted',
  };
}

function json(response: ServerResponse, value: object, asEvents = false): void {
  const text = JSON.stringify(value);
  response.writeHead(200, { 'content-type': asEvents ? 'text/event-stream' : 'application/json' });
  response.end(asEvents ? `data: ${text}\n\n` : text);
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
