import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, join, resolve, sep } from 'node:path';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import type {
  ArtifactContent,
  ArtifactPlace,
  ArtifactService,
  ArtifactVersions,
  MeasuredArtifact,
  SessionKey,
  StoredArtifact,
} from '../../runtime/index.ts';
import {
  artifactBody,
  artifactName,
  artifactPlace,
  copiedVersions,
  toBase64,
  wholeNumber,
} from '../../runtime/index.ts';
import { checkIs, name } from '../../session/index.ts';

interface Meta {
  mimeType: string;
}

/**
 * Artifacts as files: `<root>/<app>/<user>/<sessions|user>/<session>/<name>/<version>`, each beside a `.json` with its
 * media type. A version is claimed by creating its file exclusively, so that processes may share a root.
 */
export class FileArtifactService implements ArtifactService {
  readonly #root: string;

  /** `root` is made when something is saved. */
  constructor(root: string) {
    checkIs(root, 'FileArtifactService: root', name);
    this.#root = resolve(root);
  }

  async save(key: SessionKey, filename: string, content: ArtifactContent): Promise<number> {
    const place = artifactPlace(key, filename);
    const { mimeType, bytes } = artifactBody(content);
    const folder = await this.#made(place);
    const claimed = await versionsIn(folder, '.json');
    for (let version = (claimed[0] ?? 0) + 1; ; version++) {
      // The claim stays when the version is deleted: numbers are never used twice.
      if (!(await claim(join(folder, `${version}.json`), { mimeType }))) continue;
      await attempt(() => writeWhole(join(folder, `${version}.part`), join(folder, `${version}.bin`), bytes));
      return version;
    }
  }

  async load(key: SessionKey, filename: string, version = 0): Promise<StoredArtifact | undefined> {
    const found = await this.#find(key, filename, version, (path) => readFile(path));
    return found && { mimeType: found.mimeType, data: toBase64(found.read), version: found.version };
  }

  async measure(key: SessionKey, filename: string, version = 0): Promise<MeasuredArtifact | undefined> {
    const found = await this.#find(key, filename, version, (path) => stat(path));
    return found && { mimeType: found.mimeType, size: found.read.size, version: found.version };
  }

  async #find<T>(key: SessionKey, filename: string, version: number, read: (path: string) => Promise<T>) {
    const folder = this.#folder(artifactPlace(key, filename));
    wholeNumber('version', version);
    const wanted = version === 0 ? (await versionsIn(folder, '.bin'))[0] : version;
    if (wanted === undefined) return undefined;
    try {
      const found = await read(join(folder, `${wanted}.bin`));
      const meta = JSON.parse(await readFile(join(folder, `${wanted}.json`), 'utf8')) as Meta;
      return { mimeType: meta.mimeType, read: found, version: wanted };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw storeError(error);
    }
  }

  async delete(key: SessionKey, filename: string, version = 0): Promise<void> {
    const folder = this.#folder(artifactPlace(key, filename));
    wholeNumber('version', version);
    const doomed = version === 0 ? await versionsIn(folder, '.bin') : [version];
    for (const one of doomed) await attempt(() => rm(join(folder, `${one}.bin`), { force: true }));
  }

  async copy(source: SessionKey, target: SessionKey, files: ArtifactVersions): Promise<void> {
    for (const [filename, versions] of copiedVersions(source, target, files)) {
      const from = this.#folder(artifactPlace(source, filename));
      const folder = await this.#made(artifactPlace(target, filename));
      for (const version of versions) {
        // Claimed whether it is still there or not: its number is not used again.
        const mimeType = await mediaTypeOf(join(from, `${version}.json`));
        if (!(await claim(join(folder, `${version}.json`), { mimeType: mimeType ?? UNKNOWN }))) continue;
        const bytes = mimeType === undefined ? undefined : await bytesOf(join(from, `${version}.bin`));
        if (!bytes) continue;
        await attempt(() => writeWhole(join(folder, `${version}.part`), join(folder, `${version}.bin`), bytes));
      }
    }
  }

  async erase({ app, userId, id }: { app: string; userId: string; id?: string }): Promise<void> {
    const file = this.#folder(artifactPlace({ app, userId, id: id ?? 'x' }, 'x'));
    // Of a session, or of all sessions and the user.
    const folder = id === undefined ? join(file, '..', '..', '..') : join(file, '..');
    await attempt(() => rm(folder, { recursive: true, force: true }));
  }

  async list(key: SessionKey): Promise<string[]> {
    const own = artifactPlace(key, 'x');
    const users = artifactPlace(key, 'user:x');
    const names = await Promise.all([this.#namesIn(own), this.#namesIn(users)]);
    return names.flat().sort();
  }

  async versions(key: SessionKey, filename: string): Promise<number[]> {
    return versionsIn(this.#folder(artifactPlace(key, filename)), '.bin');
  }

  async #made(place: ArtifactPlace): Promise<string> {
    const folder = this.#folder(place);
    await attempt(() => mkdir(folder, { recursive: true }));
    if (basename(folder).startsWith(HASHED)) {
      const name = new TextEncoder().encode(place.name);
      await attempt(() => writeWhole(join(folder, `${randomUUID()}.part`), join(folder, NAME_FILE), name));
    }
    return folder;
  }

  async #namesIn(place: ArtifactPlace): Promise<string[]> {
    const parent = join(this.#folder(place), '..');
    const names: string[] = [];
    for (const entry of await entriesOf(parent)) {
      if ((await versionsIn(join(parent, entry), '.bin')).length > 0) {
        names.push(artifactName({ isUser: place.isUser, name: await decodeName(parent, entry) }));
      }
    }
    return names;
  }

  #folder({ app, userId, sessionId, isUser, name }: ArtifactPlace): string {
    const owner = isUser ? ['user'] : ['sessions', encodeName(sessionId)];
    const folder = join(this.#root, encodeName(app), encodeName(userId), ...owner, encodeName(name));
    // The ids are safe segments already; this holds even if that check is ever loosened.
    if (!folder.startsWith(this.#root + sep)) {
      throw new CoxswainError(
        'INVALID_ARGUMENT',
        'E_ID',
        `artifact ${JSON.stringify(name)} would leave the artifact folder`,
      );
    }
    return folder;
  }
}

const MAX_ENTRY = 200;
const HASHED = '%%';
const NAME_FILE = 'name.txt';
const UNKNOWN = 'application/octet-stream';

/** Names of devices on Windows, wherever they stand. */
const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/**
 * A name that is one on every file system: case kept apart, nothing reserved, no dot at its end; long ones by their
 * hash.
 */
function encodeName(name: string): string {
  const chars = [...name].map((char) => (/[a-z0-9_-]/.test(char) ? char : `%${hexOf(char)}=`));
  if (reserved.test(name)) chars[0] = `%${hexOf(name.charAt(0))}=`;
  const entry = chars.join('');
  return entry.length <= MAX_ENTRY ? entry : HASHED + createHash('sha256').update(name).digest('hex');
}

function hexOf(char: string): string {
  return Buffer.from(char, 'utf8').toString('hex');
}

async function decodeName(folder: string, entry: string): Promise<string> {
  if (entry.startsWith(HASHED)) return attempt(() => readFile(join(folder, entry, NAME_FILE), 'utf8'));
  return entry.replace(/%([0-9a-f]+)=/g, (_, hex: string) => Buffer.from(hex, 'hex').toString('utf8'));
}

async function claim(path: string, meta: Meta): Promise<boolean> {
  try {
    const file = await open(path, 'wx');
    try {
      await file.writeFile(JSON.stringify(meta));
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw storeError(error);
  }
}

/** Written aside and moved into place: a reader never sees half of it. */
async function writeWhole(temporary: string, path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(temporary, 'w');
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

/** Undefined: it is not there. */
async function bytesOf(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw storeError(error);
  }
}

async function mediaTypeOf(path: string): Promise<string | undefined> {
  const bytes = await bytesOf(path);
  return bytes && (JSON.parse(Buffer.from(bytes).toString('utf8')) as Meta).mimeType;
}

async function entriesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw storeError(error);
  }
}

/** Newest first. */
async function versionsIn(folder: string, ending: string): Promise<number[]> {
  return (await entriesOf(folder))
    .filter((entry) => entry.endsWith(ending))
    .map((entry) => Number(entry.slice(0, -ending.length)))
    .filter((version) => Number.isInteger(version))
    .sort((a, b) => b - a);
}

async function attempt<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storeError(error);
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function storeError(error: unknown): CoxswainError {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new CoxswainError('RESOURCE_EXHAUSTED', 'E_STORE_FULL', `no room for the artifact: ${messageOf(error)}`, {
      cause: error,
    });
  }
  if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') {
    return new CoxswainError(
      'FAILED_PRECONDITION',
      'E_STORE_READ_ONLY',
      `artifacts cannot be written: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
  return new CoxswainError('UNAVAILABLE', 'E_STORE', `the artifact folder failed: ${messageOf(error)}`, {
    cause: error,
  });
}
