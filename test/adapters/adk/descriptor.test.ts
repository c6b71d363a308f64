import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { describeAgent } from '../../../src/adapters/adk/index.ts';
import type { AgentDescriptor } from '../../../src/contracts/index.ts';
import { agentDescriptor } from '../../../src/contracts/schemas/index.ts';
import {
  agentTool,
  CustomAgent,
  fromAgent,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
} from '../../../src/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import { bot, refusal, tool } from '../../host/kit.ts';

const leaf = (name: string) => new LlmAgent({ name, description: `is ${name}` });

function valid(descriptor: AgentDescriptor): AgentDescriptor {
  expect(agentDescriptor.parse(JSON.parse(JSON.stringify(descriptor)))).toEqual(JSON.parse(JSON.stringify(descriptor)));
  return descriptor;
}

describe('descriptor of an agent', () => {
  test('S3-01 name and description are the agent’s; a name that is no identifier is refused', async () => {
    expect(valid(describeAgent(leaf('my-agent_2')))).toMatchObject({
      name: 'my-agent_2',
      description: 'is my-agent_2',
      executor: 'adk',
    });
    for (const name of ['user', '', '2x', 'a b', 'a.b', 'a/b', '__proto__ ']) {
      expect((await refusal((async () => leaf(name))())).code, name).toBe('E_AGENT_NAME');
    }
  });

  test('S3-03 zod 3, zod 4 and JSON Schema come out as the same JSON Schema', () => {
    const json = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const described = [z.object({ city: z.string() }), z3.object({ city: z3.string() }), json].map((schema) =>
      describeAgent(new LlmAgent({ name: 'bot', inputSchema: schema, outputSchema: schema })),
    );
    for (const { inputSchema, outputSchema } of described.map(valid)) {
      expect(inputSchema).toMatchObject(json);
      expect(outputSchema).toMatchObject(json);
    }
    expect(valid(describeAgent(leaf('bot')))).not.toHaveProperty('inputSchema');
  });

  test('S3-04 capabilities follow from the kind of agent', () => {
    expect(describeAgent(leaf('bot')).capabilities).toEqual(
      expect.arrayContaining(['elicitation', 'streaming', 'host_tool_execution']),
    );
    for (const agent of [
      new SequentialAgent({ name: 'all', subAgents: [leaf('a')] }),
      new ParallelAgent({ name: 'all', subAgents: [leaf('a')] }),
      new LoopAgent({ name: 'all', subAgents: [leaf('a')], maxIterations: 2 }),
    ]) {
      expect(describeAgent(agent).capabilities).toContain('composition');
      expect(describeAgent(agent).capabilities).not.toContain('host_tool_execution');
    }
    expect(describeAgent(new CustomAgent({ name: 'own', run: () => {} })).capabilities).not.toContain('composition');
  });

  test('S3-05 tools with a handler are its own, those without are required of the host', () => {
    const agent = bot([], {
      tools: [tool('own', () => 1, { annotations: { readOnly: true } }), tool('hosted'), agentTool(leaf('expert'))],
    });
    const descriptor = valid(describeAgent(agent));
    expect(descriptor.ownTools.map(({ name }) => name)).toEqual(['own', 'expert']);
    expect(descriptor.requiredTools).toEqual(['hosted']);
  });

  test('S3-06 sub-agents are descriptors within, composition names them', () => {
    const agent = new SequentialAgent({
      name: 'all',
      subAgents: [new LoopAgent({ name: 'loop', subAgents: [leaf('a')], maxIterations: 3 }), leaf('b')],
    });
    const descriptor = valid(describeAgent(agent));
    expect(descriptor.composition).toEqual({ pattern: 'sequential', children: ['loop', 'b'] });
    expect(descriptor.subAgents.map(({ name }) => name)).toEqual(['loop', 'b']);
    expect(descriptor.subAgents[0]).toMatchObject({
      composition: { pattern: 'loop', children: ['a'], maxIterations: 3 },
      subAgents: [{ name: 'a' }],
    });
    const parent = new LlmAgent({ name: 'front', subAgents: [leaf('back')] });
    expect(describeAgent(parent).composition).toEqual({ pattern: 'transfer', children: ['back'] });
    expect(describeAgent(new LlmAgent({ name: 'alone' })).composition).toBeUndefined();
  });

  test('S3-09 what an agent is made of stays inside; the rest is JSON', () => {
    const secret = 'the secret instruction';
    const agent = bot(new ScriptedModel({ name: 'secret-model' }), {
      instruction: secret,
      globalInstruction: secret,
      outputKey: 'secretKey',
      generateContentConfig: { secretTemperature: 1 },
      beforeModel: () => undefined,
      includeContents: 'none',
    });
    const descriptor = valid(describeAgent(agent, { version: '2', metadata: { team: 'x' } }));
    expect(descriptor.metadata).toEqual({ team: 'x', version: '2' });
    expect(JSON.stringify(descriptor)).not.toMatch(/secret|beforeModel|includeContents/i);
  });

  test('S3-10 transfer flags are constraints’ _meta and nowhere else', () => {
    const agent = new LlmAgent({ name: 'bot', disallowTransferToParent: true, disallowTransferToPeers: true });
    const descriptor = valid(describeAgent(agent, { constraints: { maxTurns: 3 } }));
    expect(descriptor.constraints).toEqual({
      maxTurns: 3,
      _meta: { disallowTransferToParent: true, disallowTransferToPeers: true },
    });
    const { constraints: _, ...rest } = descriptor;
    expect(JSON.stringify(rest)).not.toContain('disallow');
    expect(describeAgent(leaf('bot'))).not.toHaveProperty('constraints');
  });

  test('S3-49 a tool’s name, display name, description, schema (also by its older name), kind and annotations', () => {
    const agent = bot([], {
      tools: [
        {
          name: 'book',
          displayName: 'Book a seat',
          description: 'books',
          parametersSchema: z.object({ seat: z.number() }),
          outputSchema: { type: 'object' },
          kind: 'edit',
          annotations: { readOnly: false, longRunning: true },
          execute: () => 1,
        },
      ],
    });
    expect(valid(describeAgent(agent)).ownTools).toEqual([
      {
        name: 'book',
        displayName: 'Book a seat',
        description: 'books',
        inputSchema: expect.objectContaining({ properties: { seat: { type: 'number' } }, required: ['seat'] }),
        outputSchema: { type: 'object' },
        kind: 'edit',
        annotations: { readOnly: false, longRunning: true },
      },
    ]);
  });

  test('S3-01 an agent that cannot be built is refused where its source is made', async () => {
    const same = leaf('twin');
    const agent = new SequentialAgent({ name: 'all', subAgents: [same, leaf('twin')] });
    expect((await refusal((async () => fromAgent(agent))())).code).toBe('E_DUPLICATE_AGENT');
  });
});
