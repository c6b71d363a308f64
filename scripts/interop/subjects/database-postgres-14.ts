import { postgresSubject } from '../postgres.ts';

export default postgresSubject('PostgreSQL 14', '14.23.0-beta.17');
