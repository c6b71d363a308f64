import type { ArtifactAccess, MemoryEntry } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { SessionKey } from '../store/index.ts';
import type { ArtifactService } from './artifact-service.ts';
import type { ContextServices } from './context-services.ts';
import type { CredentialService } from './credentials.ts';
import { InMemoryCredentialService, withoutWords } from './credentials.ts';
import type { MemoryService } from './memory-service.ts';

export interface Services {
  memory?: MemoryService | undefined;
  artifacts?: ArtifactService | undefined;
  /** Default: in memory, for as long as the process lives. */
  credentials?: CredentialService | undefined;
}

const processCredentials = new InMemoryCredentialService();

/** The services as one session sees them. */
export class SessionServices implements ContextServices {
  readonly #services: Services;
  readonly #key: SessionKey;

  constructor(services: Services, key: SessionKey) {
    this.#services = services;
    this.#key = key;
  }

  async searchMemory(query: string): Promise<MemoryEntry[]> {
    return this.#services.memory?.search(this.#key, query) ?? [];
  }

  artifacts(delta: Record<string, number>): ArtifactAccess {
    const { artifacts } = this.#services;
    return artifacts ? artifactAccess(artifacts, this.#key, delta) : noArtifacts;
  }

  get credentials(): ContextServices['credentials'] {
    const { credentials = processCredentials } = this.#services;
    return {
      save: (name, credential) => withoutWords(() => credentials.save(this.#key, name, credential)),
      load: (name) => withoutWords(() => credentials.load(this.#key, name)),
      delete: (name) => withoutWords(() => credentials.delete(this.#key, name)),
    };
  }
}

function artifactAccess(service: ArtifactService, key: SessionKey, delta: Record<string, number>): ArtifactAccess {
  const measure = service.measure?.bind(service);
  return {
    async save(filename, content) {
      const version = await service.save(key, filename, content);
      delta[filename] = version;
      return version;
    },
    load: (filename, version) => service.load(key, filename, version),
    list: () => service.list(key),
    ...(measure ? { measure: (filename, version) => measure(key, filename, version) } : {}),
  };
}

const noArtifacts: ArtifactAccess = {
  save: () => Promise.reject(refusal()),
  load: () => Promise.reject(refusal()),
  list: () => Promise.reject(refusal()),
};

function refusal(): CoxswainError {
  return new CoxswainError('FAILED_PRECONDITION', 'E_UNSUPPORTED', 'there is no artifact service; give the runner one');
}
