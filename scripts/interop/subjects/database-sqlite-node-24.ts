import { sqliteSubject } from '../sqlite.ts';

export default sqliteSubject('SQLite of Node 24', '24.21.0');
