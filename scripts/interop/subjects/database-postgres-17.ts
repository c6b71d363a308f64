import { postgresSubject } from '../postgres.ts';

export default postgresSubject('PostgreSQL 17', '17.10.0-beta.17');
