import type {
  ClientCapabilities,
  ClientConnection,
  InitializeResponse,
  RequestPermissionRequest,
  SessionUpdate,
  Stream,
} from '@agentclientprotocol/sdk';
import { client, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import type { ServeAcpOptions } from '../../src/adapters/acp/index.ts';
import { serveAcp } from '../../src/adapters/acp/index.ts';
import type { AgentHost } from '../../src/index.ts';

export interface Editor {
  agent: ClientConnection['agent'];
  info: InitializeResponse;
  updates: SessionUpdate[];
  asked: RequestPermissionRequest[];
  /** Text of the agent, thoughts apart. */
  text(): string;
  prompt(sessionId: string, text: string): Promise<string>;
  start(): Promise<string>;
  close(): void;
}

/** What the person at the editor picks; undefined: never answers. `none`: the editor cannot be asked. */
export type Picks = ((request: RequestPermissionRequest) => string | undefined) | 'none';

export async function editorOn(
  stream: Stream,
  picks: Picks = 'none',
  onForm?: (message: string) => void,
  capabilities: ClientCapabilities = {},
): Promise<Editor> {
  const updates: SessionUpdate[] = [];
  const asked: RequestPermissionRequest[] = [];
  const app = client({ name: 'editor' }).onNotification(
    'session/update',
    ({ params }) => void updates.push(params.update),
  );
  if (picks !== 'none') {
    app.onRequest('session/request_permission', ({ params, signal }) => {
      asked.push(params);
      const optionId: string | object | null | undefined = picks(params);
      // What an editor of another version, or none, would say.
      if (typeof optionId === 'object') return { outcome: optionId } as never;
      if (optionId === 'cancel') return { outcome: { outcome: 'cancelled' } };
      if (optionId !== undefined) return { outcome: { outcome: 'selected', optionId } };
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ outcome: { outcome: 'cancelled' } }), { once: true });
      });
    });
  }
  // A form that is shown, and never sent.
  if (onForm) {
    app.onRequest('elicitation/create', ({ params }) => {
      onForm(params.message);
      return new Promise<never>(() => {});
    });
  }
  const connection = app.connect(stream);
  const { agent } = connection;
  const info = await agent.request('initialize', {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: { ...(onForm ? { elicitation: { form: {} } } : {}), ...capabilities },
  });
  return {
    agent,
    info,
    updates,
    asked,
    text: () =>
      updates
        .flatMap((it) =>
          it.sessionUpdate === 'agent_message_chunk' && it.content.type === 'text' ? it.content.text : [],
        )
        .join(''),
    prompt: async (sessionId, text) =>
      (await agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })).stopReason,
    start: async () => (await agent.request('session/new', { cwd: '/work', mcpServers: [] })).sessionId,
    close: () => connection.close(),
  };
}

/** An editor and a host's agent at the two ends of a pipe. */
export async function editorOf(
  host: AgentHost,
  picks: Picks = 'none',
  onForm?: (message: string) => void,
  more: Partial<ServeAcpOptions> = {},
  capabilities: ClientCapabilities = {},
): Promise<Editor & { closed: Promise<void> }> {
  let hangUp = () => {};
  const there = new TransformStream<Uint8Array, Uint8Array>({
    start(controller) {
      hangUp = () => controller.terminate();
    },
  });
  const back = new TransformStream<Uint8Array, Uint8Array>();
  const [agent] = host.agents;
  const server = await serveAcp(
    {
      list: (page) => host.sessions().list(page),
      open: ({ sessionId }) => host.open(agent?.name ?? '', sessionId === undefined ? {} : { sessionId }),
      ...more,
    },
    { input: there.readable, output: back.writable },
  );
  const editor = await editorOn(ndJsonStream(there.writable, back.readable), picks, onForm, capabilities);
  const close = () => {
    hangUp();
    // The end of one way is not the end of the other: what the editor still waits for would wait for ever.
    editor.close();
  };
  return { ...editor, close, closed: server.closed };
}
