import { describe } from 'vitest';
import { targetOfSource } from '../../src/conformance/index.ts';
import { loadAdk, missing } from './adk.ts';
import { fixtureSource } from './adk-fixture.ts';
import { conforms } from './deviations.ts';

describe.skipIf(missing !== undefined)('an agent of the real @google/adk keeps the contract', async () => {
  if (missing !== undefined) return;
  const adk = await loadAdk();
  conforms(() => targetOfSource('google-adk', () => fixtureSource(adk)));
});
