import { setting } from './settings.ts';

export interface ChatDelta {
  content?: string | null;
  tool_calls?: { index?: number; id?: string; function?: { name?: string; arguments?: string } }[];
}

/** Asks a Chat Completions server and gives the pieces of its answer as they come. */
export async function* streamChat(body: Record<string, unknown>, signal: AbortSignal): AsyncGenerator<ChatDelta> {
  const response = await fetch(setting('CHAT_COMPLETIONS_ENDPOINT'), {
    method: 'POST',
    headers: { Authorization: `Bearer ${setting('API_KEY')}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ model: setting('MODEL_ID'), stream: true, ...body }),
    signal,
  });
  if (!response.ok || !response.body) throw new Error(`the model answered with status ${response.status}`);
  let rest = '';
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n');
    // The last line may go on in the next piece.
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const data = line.startsWith('data:') ? line.slice(5).trim() : '';
      if (data === '' || data === '[DONE]') continue;
      const chunk = JSON.parse(data) as { choices?: { delta?: ChatDelta }[] };
      const delta = chunk.choices?.[0]?.delta;
      if (delta) yield delta;
    }
  }
}
