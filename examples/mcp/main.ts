import { allowAll, createHost, defineTool, LlmAgent, run } from 'coxswain';
import { serveMcpHttp } from 'coxswain/server/mcp';
import { ScriptedModel } from 'coxswain/testing';
import { mcpToolset } from 'coxswain/tools/mcp';

/** Runs the example; `tell` is told what happens. Returns the second agent's answer. */
export async function main(tell: (line: string) => void): Promise<string> {
  const postEntry = defineTool({
    name: 'post_entry',
    description: 'Writes an amount into the ledger.',
    inputSchema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
    preview: ({ amount }) => [{ type: 'text', text: `posts ${amount}` }],
    execute: ({ amount }) => `posted ${amount}`,
  });
  const clerkModel = new ScriptedModel([{ calls: [['post_entry', { amount: 12 }]] }, 'Twelve is in the ledger.']);
  const clerk = new LlmAgent({ name: 'clerk', description: 'Keeps the books.', model: clerkModel });
  const office = createHost({ app: 'office', agents: [clerk], tools: [postEntry] });
  const http = await serveMcpHttp(office);
  tell(`the clerk is served at ${http.url}`);

  const books = mcpToolset({
    url: http.url,
    name: 'office',
    onElicitation({ server, message }) {
      tell(`${server} asks: ${message.replaceAll('\n', ' ')}`);
      return { action: 'accept', content: { decision: 'allow' } };
    },
  });
  const ownerModel = new ScriptedModel([{ calls: [['clerk', { prompt: 'Post twelve.' }]] }, 'It is done.']);
  const owner = new LlmAgent({ name: 'owner', model: ownerModel });
  // Calling the clerk is allowed; what the clerk does is the office's to ask.
  const home = createHost({ app: 'home', agents: [owner], toolProviders: [books], policy: allowAll() });
  try {
    await using session = await home.open('owner');
    const { text } = await run(session, 'Put twelve into the books.', {
      onEvent(event) {
        if (event.type === 'tool_response') tell(`${event.name}: ${JSON.stringify(event.content[0])}`);
      },
    });
    tell(text);
    return text;
  } finally {
    await home.close();
    await books.close();
    await http.close();
    await office.close();
  }
}

if (process.argv[1] === import.meta.filename) await main((line) => process.stdout.write(`${line}\n`));
