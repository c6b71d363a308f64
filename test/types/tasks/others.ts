/**
 * The same tasks in the library that needs the fewest tokens for them, of those that were looked at in November 2026:
 * the AI SDK (`ai` 7) and the OpenAI Agents SDK. Where none is here, none has the task.
 */
export const others: Readonly<Record<string, { of: 'AI SDK' | 'OpenAI Agents'; code: string }>> = {
  '1-tool.ts': {
    of: 'AI SDK',
    code: `const tools = {
      read_note: tool({
        description: 'Reads a note.',
        inputSchema: nameSchema,
        outputSchema: textSchema,
        execute: async ({ name }) => ({ text: 'Note.' }),
      }),
    };`,
  },
  '2-agent.ts': {
    of: 'OpenAI Agents',
    code: `const bot = new Agent({ name: 'bot', model, instructions: 'Greet.', outputType: textSchema });`,
  },
  '4-stream.ts': {
    of: 'AI SDK',
    code: `const result = await agent.stream({ prompt: 'Pay 300.' });
    for await (const words of result.textStream) console.log(words);`,
  },
  '5-approve.ts': {
    of: 'OpenAI Agents',
    code: `let result = await run(agent, 'Pay 300.');
    for (const interruption of result.interruptions) result.state.approve(interruption);
    result = await run(agent, result.state);`,
  },
  '6-persist.ts': {
    of: 'OpenAI Agents',
    code: `const session = new OpenAIConversationsSession({ conversationId: 's' });
    const { finalOutput } = await run(agent, 'Pay 300.', { session });`,
  },
  '8-mcp.ts': {
    of: 'AI SDK',
    code: `const client = await createMCPClient({ transport: { type: 'http', url } });
    const agent = new ToolLoopAgent({ model, tools: await client.tools() });`,
  },
  '9-policy.ts': {
    of: 'AI SDK',
    code: `toolApproval: { pay: ({ amount }) => (amount > 100 ? 'user-approval' : undefined) },`,
  },
  '10-test.ts': {
    of: 'OpenAI Agents',
    code: `const model = new ScriptedModel([
      [functionCall('pay', { amount: 3 }, { callId: 'c1' })],
      [assistantMessage('Paid.')],
    ]);`,
  },
};
