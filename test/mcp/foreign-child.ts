import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { Foreign } from './foreign.ts';

serveStdio(new Foreign().factory);
