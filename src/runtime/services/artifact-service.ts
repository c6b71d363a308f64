import { guarded } from '../../base/index.ts';
import { assertSafeId, CoxswainError } from '../../contracts/index.ts';
import type { SessionKey } from '../store/index.ts';
import { checkKey } from '../store/index.ts';

export interface ArtifactContent {
  mimeType: string;
  /** Base64, or bytes. */
  data: string | Uint8Array;
}

export interface StoredArtifact {
  mimeType: string;
  /** Base64. */
  data: string;
  version: number;
}

/** What is said of an artifact without its body. */
export interface MeasuredArtifact {
  mimeType: string;
  /** Bytes. */
  size: number;
  version: number;
}

/**
 * Versioned files of a session; names that begin with `user:` belong to the user and are shared by their sessions.
 * Every implementation passes the same suite.
 */
export interface ArtifactService {
  /** Adds a version (1, 2, …) and returns it. Versions are never reused. */
  save(key: SessionKey, filename: string, content: ArtifactContent): Promise<number>;
  /**
   * `version` 0 or absent: the latest.
   * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for a version that is no whole number, here and in delete
   */
  load(key: SessionKey, filename: string, version?: number): Promise<StoredArtifact | undefined>;
  /**
   * What `load` would find, without reading its body. Absent: a host that wants to know how large one is loads it.
   * @throws CoxswainError as `load`
   */
  measure?(key: SessionKey, filename: string, version?: number): Promise<MeasuredArtifact | undefined>;
  /** `version` 0 or absent: all of them. */
  delete(key: SessionKey, filename: string, version?: number): Promise<void>;
  /** Names of the session's and the user's files, sorted. */
  list(key: SessionKey): Promise<string[]>;
  /** Newest first. */
  versions(key: SessionKey, filename: string): Promise<number[]>;
  /**
   * Removes for good the files of one session, or without `id` all files of a user: those of all sessions, gone or not,
   * and the user's own.
   */
  erase?(of: { app: string; userId: string; id?: string }): Promise<void>;
  /**
   * Keeps versions of a session's files in another session of the same user, under the same numbers: of a copied log, what
   * that names. What is not there, and what the other session has already, is left out; the numbers are used up all the same.
   * Absent: a copy of a session has no artifacts.
   * @param files versions by name of the file
   * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for sessions of two users
   */
  copy?(source: SessionKey, target: SessionKey, files: Readonly<Record<string, readonly number[]>>): Promise<void>;
  close?(): Promise<void>;
}

/** Where an artifact lives: the user's files are kept beside the sessions. */
export interface ArtifactPlace {
  app: string;
  userId: string;
  /** `user` for the user's own. */
  sessionId: string;
  isUser: boolean;
  /** Without prefix. */
  name: string;
}

const USER_PREFIX = 'user:';

/**
 * Checks key and name once for all backends.
 * @throws CoxswainError `INVALID_ARGUMENT / E_ID`
 */
export function artifactPlace(key: SessionKey, filename: string): ArtifactPlace {
  checkKey(key);
  const isUser = typeof filename === 'string' && filename.startsWith(USER_PREFIX);
  const name = isUser ? filename.slice(USER_PREFIX.length) : filename;
  assertSafeId('artifact name', name);
  return { app: key.app, userId: key.userId, sessionId: isUser ? 'user' : key.id, isUser, name };
}

export function artifactName(place: { isUser: boolean; name: string }): string {
  return place.isUser ? `${USER_PREFIX}${place.name}` : place.name;
}

const MAX_MEDIA_TYPE = 255;
const mediaType = /^[!-~](?:[ -~]*[!-~])?$/;

/**
 * Checks and copies what is to be kept, once for all backends.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for data that is neither bytes nor base64, and for a media type
 *   that is no line of ASCII
 */
export function artifactBody(content: ArtifactContent): { mimeType: string; bytes: Uint8Array } {
  const { mimeType, data } = guarded('an artifact', () => ({ mimeType: content?.mimeType, data: content?.data }));
  if (typeof mimeType !== 'string' || mimeType.length > MAX_MEDIA_TYPE || !mediaType.test(mimeType)) {
    const given = typeof mimeType === 'string' ? JSON.stringify(mimeType.slice(0, 40)) : typeof mimeType;
    throw badInput(`the mimeType of an artifact is ${given}; give one like text/plain`);
  }
  return { mimeType, bytes: toBytes(data) };
}

function toBytes(data: string | Uint8Array): Uint8Array {
  if (guarded('artifact data', () => data instanceof Uint8Array)) return (data as Uint8Array).slice();
  if (typeof data !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(data) || data.length % 4 === 1) {
    throw badInput('artifact data is neither bytes nor base64');
  }
  return Uint8Array.from(Buffer.from(data, 'base64'));
}

function badInput(message: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
}

export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
