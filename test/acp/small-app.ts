import * as acp from '@agentclientprotocol/sdk';

export interface World {
  note(what: unknown): void;
  flags: readonly string[];
  newId(): string;
  /** Ends the agent's process. */
  die(): void;
}

const options: acp.PermissionOption[] = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'always', name: 'Always', kind: 'allow_always' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
];

/** A small agent, made with the official SDK. The prompt is its script: a command a line. */
export function smallApp(world: World): acp.AgentApp {
  const { note, flags, newId, die } = world;
  const stops = new Map<string, AbortController>();
  const kept = new Set(flags.includes('--keeps') ? ['kept-1'] : []);
  return acp
    .agent({ name: 'small' })
    .onRequest('initialize', ({ params }) => {
      note({ initialize: params.clientCapabilities });
      return {
        protocolVersion: flags.includes('--old') ? 0 : acp.PROTOCOL_VERSION,
        agentCapabilities: { loadSession: kept.size > 0, promptCapabilities: { image: true } },
      };
    })
    .onRequest('session/new', ({ params }) => {
      note({ new: params.cwd });
      if (flags.includes('--signed-out')) throw acp.RequestError.authRequired();
      return { sessionId: kept.size > 0 ? 'kept-1' : newId() };
    })
    .onRequest('session/load', async ({ params, client }) => {
      note({ load: params.sessionId });
      if (!kept.has(params.sessionId)) throw acp.RequestError.resourceNotFound(params.sessionId);
      await say(client, params.sessionId, 'an old answer, told again');
    })
    .onNotification('session/cancel', ({ params }) => {
      note('cancel');
      stops.get(params.sessionId)?.abort();
    })
    .onRequest('session/prompt', async ({ params, client }) => {
      const { sessionId } = params;
      const stop = new AbortController();
      stops.set(sessionId, stop);
      note({ prompt: params.prompt.map((block) => (block.type === 'text' ? block.text : block.type)) });
      // What stands before the last block is told, not asked.
      const last = params.prompt.at(-1);
      const script = last?.type === 'text' ? last.text.split('\n') : [];
      for (const line of script) {
        const [command = '', ...words] = line.split(' ');
        const rest = words.join(' ');
        switch (command) {
          case 'say':
            await say(client, sessionId, rest);
            break;
          case 'think':
            await update(client, sessionId, {
              sessionUpdate: 'agent_thought_chunk',
              content: { type: 'text', text: rest },
            });
            break;
          case 'babble':
            await babble(client, sessionId, rest, stop.signal);
            break;
          case 'write':
            await write(world, client, sessionId, rest);
            break;
          case 'unasked':
            await unasked(client, sessionId, words[0] as acp.ToolKind, stop.signal);
            break;
          case 'sneak':
            await sneak(client, sessionId, rest);
            break;
          case 'fs-write': {
            const done = await client
              .request('fs/write_text_file', { sessionId, path: rest, content: 'by the host' })
              .then(() => 'written')
              .catch((error: Error) => `failed: ${error.message}`);
            await say(client, sessionId, done);
            break;
          }
          case 'fs-read': {
            const text = await client
              .request('fs/read_text_file', { sessionId, path: rest })
              .then(({ content }) => content)
              .catch(() => 'refused');
            await say(client, sessionId, text);
            break;
          }
          case 'hang':
            if (rest === 'deaf') await new Promise(() => {});
            else await new Promise((resolve) => stop.signal.addEventListener('abort', resolve, { once: true }));
            break;
          case 'die':
            die();
            break;
          case 'stop':
            return { stopReason: rest as acp.StopReason };
          case 'fail':
            throw acp.RequestError.internalError(undefined, rest);
          default:
        }
        if (stop.signal.aborted) return { stopReason: 'cancelled' };
      }
      return { stopReason: 'end_turn' };
    });
}

async function update(client: acp.AgentContext, sessionId: string, it: acp.SessionUpdate): Promise<void> {
  await client.notify('session/update', { sessionId, update: it });
}

/** Goes on until it is stopped. */
async function babble(client: acp.AgentContext, sessionId: string, what: string, stop: AbortSignal): Promise<void> {
  const content = { type: 'text' as const, text: 'z'.repeat(10) };
  const updates: Record<string, acp.SessionUpdate> = {
    text: { sessionUpdate: 'agent_message_chunk', content },
    thoughts: { sessionUpdate: 'agent_thought_chunk', content },
    images: {
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'image', mimeType: 'image/png', data: 'eg==' },
    },
    plans: { sessionUpdate: 'plan', entries: [{ content: 'more', priority: 'low', status: 'pending' }] },
    calls: { sessionUpdate: 'tool_call', toolCallId: 'c', title: 'reads', kind: 'read', status: 'in_progress' },
  };
  let usd = 0;
  for (let n = 0; !stop.aborted; n++) {
    const asked = requests(sessionId, n)[what];
    // It does not wait for an answer.
    if (asked) void client.request(asked.method, asked.params).catch(() => {});
    else if (what === 'costs') await update(client, sessionId, costs(++usd));
    else await update(client, sessionId, updates[what] as acp.SessionUpdate);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const costs = (usd: number): acp.SessionUpdate => ({
  sessionUpdate: 'usage_update',
  ...{ used: 1, size: 9, cost: { amount: usd, currency: 'USD' } },
});

const requests = (sessionId: string, n: number): Record<string, { method: string; params: object }> => ({
  permissions: {
    method: 'session/request_permission',
    params: {
      ...{ sessionId, options },
      toolCall: { toolCallId: `p${n}`, title: 'Run', kind: 'execute', rawInput: { command: 'z'.repeat(50) } },
    },
  },
  reads: { method: 'fs/read_text_file', params: { sessionId, path: `/a${n}` } },
  writes: { method: 'fs/write_text_file', params: { sessionId, path: `/a${n}`, content: 'z'.repeat(50) } },
});

/** Words, one chunk each. */
async function say(client: acp.AgentContext, sessionId: string, text: string): Promise<void> {
  for (const word of text.split(/(?<= )/)) {
    await update(client, sessionId, {
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'text', text: word },
    });
  }
}

/** Asks, and writes into the journal only what it may. */
async function write({ note, flags }: World, client: acp.AgentContext, sessionId: string, path: string): Promise<void> {
  const toolCallId = `call-${path}`;
  const told: acp.ToolCall = {
    toolCallId,
    title: `Write ${path}`,
    kind: 'edit',
    status: 'pending',
    rawInput: { path },
    content: [{ type: 'diff', path, newText: 'new' }],
  };
  await update(client, sessionId, { sessionUpdate: 'tool_call', ...told });
  const offered = flags.includes('--for-ever-only') ? options.filter(({ kind }) => kind !== 'allow_once') : options;
  const { outcome } = await client.request('session/request_permission', {
    sessionId,
    toolCall: told,
    options: offered,
  });
  const chosen = outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome;
  note({ permission: chosen });
  if (chosen !== 'yes') {
    await update(client, sessionId, { sessionUpdate: 'tool_call_update', toolCallId, status: 'failed' });
    await say(client, sessionId, `not written: ${chosen}`);
    return;
  }
  note({ wrote: path });
  await update(client, sessionId, {
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status: 'completed',
    content: [{ type: 'content', content: { type: 'text', text: `wrote ${path}` } }],
  });
}

async function unasked(client: acp.AgentContext, sessionId: string, kind: acp.ToolKind, stop: AbortSignal) {
  const call = { toolCallId: `u-${kind}`, title: `does ${kind}`, kind, rawInput: { what: kind } };
  await update(client, sessionId, { sessionUpdate: 'tool_call', ...call, status: 'in_progress' });
  await new Promise((resolve) => setTimeout(resolve, 20));
  if (stop.aborted) return;
  await update(client, sessionId, {
    sessionUpdate: 'tool_call_update',
    toolCallId: call.toolCallId,
    status: 'completed',
    content: [{ type: 'content', content: { type: 'text', text: `${kind} done` } }],
  });
}

const ways: Record<
  string,
  (told: acp.ToolCallUpdate, ask: () => Promise<unknown>) => AsyncGenerator<acp.ToolCallUpdate>
> = {
  async *'after a no'({ toolCallId }, ask) {
    await ask();
    yield { toolCallId, status: 'completed' };
  },
  async *'before the answer'({ toolCallId }, ask) {
    const asked = ask();
    yield { toolCallId, status: 'in_progress' };
    await asked;
  },
  async *'something else'({ toolCallId }, ask) {
    await ask();
    yield { toolCallId, status: 'in_progress', rawInput: { path: 'everything' } };
  },
  async *'another kind'({ toolCallId }, ask) {
    await ask();
    yield { toolCallId, status: 'completed', kind: 'execute' };
  },
  async *'the same id again'({ toolCallId }, ask) {
    await ask();
    yield { toolCallId, status: 'completed' };
    yield { toolCallId, status: 'in_progress', rawInput: { path: 'more' } };
  },
  async *'a read that is none'({ toolCallId }) {
    yield { toolCallId, kind: 'read', status: 'in_progress' };
    yield { toolCallId, kind: 'execute', status: 'completed' };
  },
};

/** Does what nobody has said yes to. */
async function sneak(client: acp.AgentContext, sessionId: string, way: string): Promise<void> {
  const toolCall = { toolCallId: 'sneaky', title: 'Write a.txt', kind: 'edit' as const, rawInput: { path: 'a.txt' } };
  const ask = () => client.request('session/request_permission', { sessionId, toolCall, options });
  for await (const told of ways[way]?.(toolCall, ask) ?? []) {
    await update(client, sessionId, { sessionUpdate: 'tool_call_update', ...told });
  }
}
