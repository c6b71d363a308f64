/** Credentials, artifacts and memory of agents. */
export type {
  ArtifactContent,
  ArtifactPlace,
  ArtifactService,
  MeasuredArtifact,
  StoredArtifact,
} from './artifact-service.ts';
export { artifactBody, artifactName, artifactPlace, toBase64 } from './artifact-service.ts';
export type { ContextServices } from './context-services.ts';
export type { ArtifactVersions } from './copied-artifacts.ts';
export { copiedVersions, copySession } from './copied-artifacts.ts';
export type { CredentialService, GivenCredential } from './credentials.ts';
export {
  checkAuthConfig,
  givenCredential,
  InMemoryCredentialService,
  keepCredentials,
  withoutWords,
} from './credentials.ts';
export { InMemoryArtifactService } from './in-memory-artifact-service.ts';
export { InMemoryMemoryService, rank } from './in-memory-memory-service.ts';
export type { MemoryService } from './memory-service.ts';
export { DEFAULT_MEMORY_LIMIT, memoryEntries } from './memory-service.ts';
export { secretsIn, withoutSecrets } from './secrets.ts';
export type { Services } from './services.ts';
export { SessionServices } from './services.ts';
export type { Searchable } from './words.ts';
export { fold, hits, isPiece, MAX_QUERY_WORDS, queryWords, searchable, wordsOf } from './words.ts';
