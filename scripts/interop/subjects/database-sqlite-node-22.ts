import { sqliteSubject } from '../sqlite.ts';

export default sqliteSubject('SQLite of Node 22', '22.13.0');
