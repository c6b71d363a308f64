import { join } from 'node:path';
import { start } from '../../examples/react/main.ts';
import { drivesLetters } from './letters-page.ts';

const tsconfig = join(import.meta.dirname, '../../tsconfig.json');

drivesLetters('', (options) => start({ ...options, tsconfig }));
