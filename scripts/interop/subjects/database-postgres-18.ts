import { postgresSubject } from '../postgres.ts';

export default postgresSubject('PostgreSQL 18', '18.4.0-beta.17');
