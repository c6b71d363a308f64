import type { AuthConfig } from '../contracts/index.ts';
import { CoxswainError } from '../contracts/index.ts';
import type { ContextServices } from './services.ts';
import { checkScope } from './store-rules.ts';

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
  return JSON.stringify([scope.app, scope.userId, key]);
}

/** The name that a credential is kept under. */
export function credentialKey(config: AuthConfig, tool: string): string {
  return config.key ?? tool;
}

/**
 * Puts an answered credential where it belongs, before the answer (without it) is stored.
 * @throws CoxswainError `FAILED_PRECONDITION / E_WRONG_ANSWER` for a yes without a credential
 */
export async function keepCredential(
  services: ContextServices,
  ask: { kind: string; requestId: string; context?: Record<string, unknown> },
  tool: string,
  answer: { action?: string; content?: Record<string, unknown> | undefined },
): Promise<void> {
  if (ask.kind !== 'auth_required' || answer.action !== 'accept') return;
  const credential = answer.content?.credential;
  if (credential === undefined) {
    throw new CoxswainError(
      'FAILED_PRECONDITION',
      'E_WRONG_ANSWER',
      `${ask.requestId} asks for a credential; accept with content.credential, or decline`,
    );
  }
  await services.credentials.save(credentialKey((ask.context ?? {}) as AuthConfig, tool), credential);
}
