import { checkIs, checkQuestionSize, name } from '../../base/index.ts';
import type { AuthConfig } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { checkScope } from '../store/index.ts';
import type { ContextServices } from './context-services.ts';

/** Keeps what people hand over for tools, by (app, user) and key. What it holds never reaches log, events or spans. */
export interface CredentialService {
  save(scope: { app: string; userId: string }, key: string, credential: unknown): Promise<void>;
  load(scope: { app: string; userId: string }, key: string): Promise<unknown>;
  delete(scope: { app: string; userId: string }, key: string): Promise<void>;
}

/** Credentials that live as long as the process. */
export class InMemoryCredentialService implements CredentialService {
  readonly #credentials = new Map<string, unknown>();

  async save(scope: { app: string; userId: string }, key: string, credential: unknown): Promise<void> {
    checkScope(scope);
    this.#credentials.set(nameOf(scope, key), credential);
  }

  async load(scope: { app: string; userId: string }, key: string): Promise<unknown> {
    checkScope(scope);
    return this.#credentials.get(nameOf(scope, key));
  }

  async delete(scope: { app: string; userId: string }, key: string): Promise<void> {
    checkScope(scope);
    this.#credentials.delete(nameOf(scope, key));
  }
}

function nameOf(scope: { app: string; userId: string }, key: string): string {
  checkIs(key, 'the key of a credential', name);
  return JSON.stringify([scope.app, scope.userId, key]);
}

/**
 * What a credential service does, without what it says where it fails: that may hold what it was given.
 * @throws CoxswainError `UNAVAILABLE / E_CREDENTIALS`
 */
export async function withoutWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { name, code } = Object(error) as { name?: unknown; code?: unknown };
    const kind =
      [name, code].filter((word) => typeof word === 'string' && /^\w{1,40}$/.test(word)).join(' ') || 'error';
    const message = `the credential service failed (${kind}); its words are left out, as they may hold a secret`;
    throw new CoxswainError('UNAVAILABLE', 'E_CREDENTIALS', message);
  }
}

/** The name that a credential is kept under. */
function credentialKey(config: AuthConfig, tool: string): string {
  return config.key ?? tool;
}

/** A credential that came with an answer, and is not where it belongs yet. */
export interface GivenCredential {
  readonly key: string;
  readonly credential: unknown;
}

/**
 * The credential in an answer; undefined where it is no yes to a question for one.
 * @throws CoxswainError `FAILED_PRECONDITION / E_WRONG_ANSWER` for a yes without a credential
 */
export function givenCredential(
  ask: { kind: string; requestId: string; context?: Record<string, unknown> },
  tool: string,
  answer: { action?: string; content?: Record<string, unknown> | undefined },
): GivenCredential | undefined {
  if (ask.kind !== 'auth_required' || answer.action !== 'accept') return undefined;
  const credential = answer.content?.credential;
  if (credential === undefined || credential === null || credential === '') {
    throw new CoxswainError(
      'FAILED_PRECONDITION',
      'E_WRONG_ANSWER',
      `${ask.requestId} asks for a credential; accept with content.credential, or decline`,
    );
  }
  return { key: credentialKey((ask.context ?? {}) as AuthConfig, tool), credential };
}

/**
 * Puts credentials where they belong, before the answers (without them) are stored. Returns what takes them back
 * where the answers are not taken after all.
 */
export async function keepCredentials(
  { credentials }: ContextServices,
  given: readonly GivenCredential[],
): Promise<() => Promise<void>> {
  const before: [key: string, credential: unknown][] = [];
  const takeBack = async () => {
    for (const [key, credential] of before.splice(0).reverse()) {
      await (credential === undefined ? credentials.delete(key) : credentials.save(key, credential));
    }
  };
  try {
    for (const { key, credential } of given) {
      before.push([key, await credentials.load(key)]);
      await credentials.save(key, credential);
    }
  } catch (error) {
    await takeBack().catch(() => {});
    throw error;
  }
  return takeBack;
}

const members: ReadonlySet<string> = new Set(['key', 'scheme', 'hint', 'scopes', 'url']);

/**
 * What a tool says of the credential that it needs, as it is stored and shown.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for more than that: it may be the secret itself;
 *   `E_TOO_LARGE` for more than a person is shown
 */
export function checkAuthConfig(config: AuthConfig): AuthConfig {
  const checked: AuthConfig = {};
  for (const [name, value] of Object.entries(config ?? {})) {
    if (value === undefined) continue;
    const isScopes = name === 'scopes' && Array.isArray(value) && value.every((scope) => typeof scope === 'string');
    if (!members.has(name) || !(isScopes || (name !== 'scopes' && typeof value === 'string'))) {
      throw bad(`it holds ${[...members].join(', ')}, and not ${JSON.stringify(name)}`);
    }
    Object.assign(checked, { [name]: isScopes ? [...value] : value });
  }
  checkQuestionSize(checked, 'requestCredential');
  const { url = '' } = checked;
  const { username, password } = URL.canParse(url) ? new URL(url) : { username: '', password: '' };
  if (username !== '' || password !== '') throw bad('its url has a user or a password in it');
  return checked;
}

function bad(why: string): CoxswainError {
  const message = `requestCredential: what is asked with is stored and shown, so ${why}`;
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
}
