import { postgresSubject } from '../postgres.ts';

export default postgresSubject('PostgreSQL 16', '16.14.0-beta.17');
