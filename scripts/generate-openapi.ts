import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiText } from '../src/host/http/index.ts';

/** Where the OpenAPI document is kept. `npm run spec` and `npm run api` write it: it is made of the contracts. */
export const openApiFile = join(import.meta.dirname, '..', 'api', 'openapi.json');

if (import.meta.main) writeFileSync(openApiFile, await openApiText(''));
