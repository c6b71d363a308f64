import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { Principal } from '../../contracts/index.ts';
import { canonicalJson, messageOf } from '../../contracts/index.ts';
import { clean, usageError } from '../terminal/index.ts';

/** What somebody may see of sessions of others. */
interface Operator {
  users?: string[];
  content?: boolean;
}

/** Who may come to a server. */
export interface People {
  of(token: string): Principal | undefined;
  /** Of a principal's id; undefined: their own sessions alone. */
  operator(id: string): Operator | undefined;
}

const digest = (token: string) => createHash('sha256').update(token).digest('hex');

/** Digests of tokens, and whose they are. @throws CoxswainError `INVALID_ARGUMENT / E_USAGE` */
export function readPeople(file: string): People {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    // A syntax error would quote the file.
    const why = error instanceof SyntaxError ? 'it is no JSON' : messageOf(error);
    throw usageError(`--people: ${file} cannot be read (${why})`);
  }
  const people = new Map<string, Principal>();
  const operators = new Map<string, Operator | undefined>();
  const list = Array.isArray(value) ? (value as unknown[]) : [];
  for (const [index, entry] of list.entries()) {
    const { token, tokenSha256, id, roles, operator } = (entry ?? {}) as Record<string, unknown>;
    const rolesFit = roles === undefined || (Array.isArray(roles) && roles.every((role) => typeof role === 'string'));
    const known = digestOf(token, tokenSha256);
    if (known === undefined || typeof id !== 'string' || id === '' || !rolesFit) {
      throw usageError(
        `--people: entry ${index} of ${file} needs {"token": 16 characters or more, or "tokenSha256": 64 hex digits; "id", "roles"?: […], "operator"?: …}`,
      );
    }
    const scope = operatorOf(operator, `entry ${index} of ${file}`);
    if (operators.has(id) && canonicalJson(operators.get(id) ?? null) !== canonicalJson(scope ?? null)) {
      throw usageError(
        `--people: entries of ${JSON.stringify(id)} in ${file} differ in "operator": it is of the person, give each the same`,
      );
    }
    operators.set(id, scope);
    people.set(known, { id, ...(roles === undefined ? {} : { roles: roles as string[] }) });
  }
  if (list.some((entry) => Object(entry).token !== undefined)) warnOfReaders(file);
  if (people.size === 0) throw usageError(`--people: ${file} names nobody; it is [{"token": "…", "id": "…"}]`);
  return { of: (token) => people.get(digest(token)), operator: (id) => operators.get(id) };
}

/** `true`, or `{"users": ["ben"], "content": true}`. What cannot be read makes nobody an operator: it is refused. */
function operatorOf(value: unknown, where: string): Operator | undefined {
  if (value === undefined || value === false) return undefined;
  if (value === true) return {};
  const { users, content, ...more } = (typeof value === 'object' && value !== null ? value : { value }) as Record<
    string,
    unknown
  >;
  const usersFit = users === undefined || (Array.isArray(users) && users.every((user) => typeof user === 'string'));
  if (!usersFit || (content !== undefined && typeof content !== 'boolean') || Object.keys(more).length > 0) {
    throw usageError(`--people: "operator" of ${where} is true, or {"users"?: ["…"], "content"?: true}`);
  }
  return {
    ...(users === undefined ? {} : { users: users as string[] }),
    ...(content === undefined ? {} : { content }),
  };
}

/** Access rights of POSIX: on Windows they say nothing. */
function warnOfReaders(file: string): void {
  if (process.platform === 'win32') return;
  const mode = statSync(file).mode & 0o777;
  if ((mode & 0o077) === 0) return;
  const message = `${file} holds tokens and others can read it (mode ${mode.toString(8)}): chmod 600 ${file}, or write tokenSha256 in place of token`;
  process.stderr.write(`${clean(JSON.stringify({ time: new Date().toISOString(), event: 'warning', message }))}\n`);
}

/** A file that others may read can hold the digest alone. */
function digestOf(token: unknown, tokenSha256: unknown): string | undefined {
  if (tokenSha256 === undefined) return typeof token === 'string' && token.length >= 16 ? digest(token) : undefined;
  const isDigest = typeof tokenSha256 === 'string' && /^[0-9a-f]{64}$/i.test(tokenSha256);
  return isDigest && token === undefined ? tokenSha256.toLowerCase() : undefined;
}
