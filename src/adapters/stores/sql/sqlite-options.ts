import type { SqlServiceOptions } from './services/index.ts';
import type { SqliteConnectionOptions } from './sqlite-file/index.ts';

export interface SqliteOptions extends SqliteConnectionOptions, SqlServiceOptions {}
