import { ndJsonStream } from '@agentclientprotocol/sdk';
import { describe } from 'vitest';
import type { AcpPipe } from '../../src/adapters/acp/index.ts';
import { fromAcp } from '../../src/adapters/acp/index.ts';
import { targetOfSource } from '../../src/conformance/index.ts';
import { conforms } from '../foreign/deviations.ts';
import { fixtureApp } from './fixture-app.ts';

function connect(): AcpPipe {
  const there = new TransformStream<Uint8Array, Uint8Array>();
  const back = new TransformStream<Uint8Array, Uint8Array>();
  const connection = fixtureApp().connect(ndJsonStream(back.writable, there.readable));
  const end = async () => connection.close();
  return { input: there.writable, output: back.readable, close: end, kill: () => void end() };
}

const WORDS = 'a permission is asked in the words of the gate; those of the agent are in args.title';

describe('an agent behind the Agent Client Protocol keeps the contract', () => {
  conforms(() => targetOfSource('acp', () => fromAcp({ name: 'bot', connect })), {
    'CX-ELIC-01': WORDS,
    'CX-ELIC-02': WORDS,
    'CX-ELIC-03': WORDS,
    'CX-ELIC-04': WORDS,
    'CX-ELIC-05': WORDS,
    'CX-ELIC-06': WORDS,
  });
});
