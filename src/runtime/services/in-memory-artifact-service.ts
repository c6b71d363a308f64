import type { SessionKey } from '../store/index.ts';
import { checkKey, checkScope, wholeNumber } from '../store/index.ts';
import type {
  ArtifactContent,
  ArtifactPlace,
  ArtifactService,
  MeasuredArtifact,
  StoredArtifact,
} from './artifact-service.ts';
import { artifactBody, artifactName, artifactPlace, toBase64 } from './artifact-service.ts';
import type { ArtifactVersions } from './copied-artifacts.ts';
import { copiedVersions } from './copied-artifacts.ts';

interface File {
  place: ArtifactPlace;
  versions: Map<number, { mimeType: string; bytes: Uint8Array }>;
  newest: number;
}

/** Artifacts that live as long as the process. */
export class InMemoryArtifactService implements ArtifactService {
  readonly #files = new Map<string, File>();

  async save(key: SessionKey, filename: string, content: ArtifactContent): Promise<number> {
    const place = artifactPlace(key, filename);
    const body = artifactBody(content);
    const file = this.#files.get(nameOf(place)) ?? { place, versions: new Map(), newest: 0 };
    this.#files.set(nameOf(place), file);
    file.newest++;
    file.versions.set(file.newest, body);
    return file.newest;
  }

  async load(key: SessionKey, filename: string, version = 0): Promise<StoredArtifact | undefined> {
    const found = this.#find(key, filename, version);
    return found && { mimeType: found.mimeType, data: toBase64(found.bytes), version: found.version };
  }

  async measure(key: SessionKey, filename: string, version = 0): Promise<MeasuredArtifact | undefined> {
    const found = this.#find(key, filename, version);
    return found && { mimeType: found.mimeType, size: found.bytes.length, version: found.version };
  }

  #find(key: SessionKey, filename: string, version: number) {
    const file = this.#files.get(nameOf(artifactPlace(key, filename)));
    wholeNumber('version', version);
    if (!file) return undefined;
    const wanted = version === 0 ? Math.max(0, ...file.versions.keys()) : version;
    const found = file.versions.get(wanted);
    return found && { ...found, version: wanted };
  }

  async delete(key: SessionKey, filename: string, version = 0): Promise<void> {
    const file = this.#files.get(nameOf(artifactPlace(key, filename)));
    wholeNumber('version', version);
    if (version === 0) file?.versions.clear();
    else file?.versions.delete(version);
  }

  async copy(source: SessionKey, target: SessionKey, files: ArtifactVersions): Promise<void> {
    for (const [filename, versions] of copiedVersions(source, target, files)) {
      const from = this.#files.get(nameOf(artifactPlace(source, filename)));
      const place = artifactPlace(target, filename);
      const to = this.#files.get(nameOf(place)) ?? { place, versions: new Map(), newest: 0 };
      this.#files.set(nameOf(place), to);
      to.newest = Math.max(to.newest, ...versions);
      for (const version of versions) {
        const body = from?.versions.get(version);
        if (body && !to.versions.has(version)) to.versions.set(version, body);
      }
    }
  }

  async erase({ app, userId, id }: { app: string; userId: string; id?: string }): Promise<void> {
    if (id === undefined) checkScope({ app, userId });
    else checkKey({ app, userId, id });
    for (const [name, { place }] of this.#files) {
      if (place.app !== app || place.userId !== userId) continue;
      if (id === undefined || (!place.isUser && place.sessionId === id)) this.#files.delete(name);
    }
  }

  async list(key: SessionKey): Promise<string[]> {
    checkKey(key);
    return [...this.#files.values()]
      .filter(({ place, versions }) => versions.size > 0 && place.app === key.app && place.userId === key.userId)
      .filter(({ place }) => place.isUser || place.sessionId === key.id)
      .map(({ place }) => artifactName(place))
      .sort();
  }

  async versions(key: SessionKey, filename: string): Promise<number[]> {
    const file = this.#files.get(nameOf(artifactPlace(key, filename)));
    return [...(file?.versions.keys() ?? [])].sort((a, b) => b - a);
  }
}

function nameOf(place: ArtifactPlace): string {
  const { app, userId, sessionId, isUser, name } = place;
  return JSON.stringify([app, userId, isUser, isUser ? '' : sessionId, name]);
}
