import type {
  ArtifactContent,
  ArtifactPlace,
  ArtifactService,
  ArtifactVersions,
  MeasuredArtifact,
  SessionKey,
  StoredArtifact,
} from '../../../../runtime/index.ts';
import {
  artifactBody,
  artifactName,
  artifactPlace,
  checkKey,
  checkScope,
  copiedVersions,
  toBase64,
  wholeNumber,
} from '../../../../runtime/index.ts';
import type { Row, SqlEngine, Steps, Value } from '../statements/index.ts';
import { all, now, one, runStatement, textOfColumn, writeText } from '../statements/index.ts';

/** Versions are counted in 32 bits; there is none beyond. */
const MAX_VERSION = 2 ** 31 - 1;
const OF_FILE = 'WHERE app_name = ? AND user_id = ? AND session_id = ? AND filename = ?';

/** User's files have the session id `user`; with their prefix they are no files of a session that is called so. */
const fileOf = (place: ArtifactPlace): Value[] => [place.app, place.userId, place.sessionId, artifactName(place)];

/** Artifacts in the tables of a session store; for bodies of some megabytes, a folder serves better. */
export class SqlArtifactService implements ArtifactService {
  readonly #ready: () => SqlEngine;

  /** `ready` gives the engine, or throws if it is closed. */
  constructor(ready: () => SqlEngine) {
    this.#ready = ready;
  }

  async save(key: SessionKey, filename: string, content: ArtifactContent): Promise<number> {
    const engine = this.#ready();
    const file = fileOf(artifactPlace(key, filename));
    const { mimeType, bytes } = artifactBody(content);
    const { dialect } = engine;
    const upsert = `INSERT INTO adk_artifacts (app_name, user_id, session_id, filename, last_version)
      VALUES (?, ?, ?, ?, 1) ${dialect.onConflict(
        ['app_name', 'user_id', 'session_id', 'filename'],
        ['last_version = adk_artifacts.last_version + 1'],
      )}${dialect.returning ? ' RETURNING last_version' : ''}`;
    const insert = `INSERT INTO adk_artifact_versions
      (app_name, user_id, session_id, filename, version, mime_type, inserted_at, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
    return engine.transaction('write', function* () {
      // The count comes first: it takes the lock that serialises savers, and outlives the versions that it has counted.
      const version = yield* lastVersion();
      yield* runStatement(insert, [...file, version, writeText(mimeType), now(), bytes]);
      return version;
    });

    function* lastVersion(): Steps<number> {
      if (dialect.returning) return Number((yield* one(upsert, file))?.last_version);
      yield* runStatement(upsert, file);
      const row = yield* one(`SELECT last_version FROM adk_artifacts ${OF_FILE}${dialect.forUpdate}`, file);
      return Number(row?.last_version);
    }
  }

  async load(key: SessionKey, filename: string, version = 0): Promise<StoredArtifact | undefined> {
    const row = await this.#find('data', key, filename, version);
    if (!row) return undefined;
    const data = toBase64(row.data as Uint8Array);
    return { mimeType: textOfColumn(String(row.mime_type)), data, version: Number(row.version) };
  }

  async measure(key: SessionKey, filename: string, version = 0): Promise<MeasuredArtifact | undefined> {
    const row = await this.#find('octet_length(data) AS size', key, filename, version);
    if (!row) return undefined;
    return { mimeType: textOfColumn(String(row.mime_type)), size: Number(row.size), version: Number(row.version) };
  }

  async #find(column: string, key: SessionKey, filename: string, version: number): Promise<Row | undefined> {
    const engine = this.#ready();
    const file = fileOf(artifactPlace(key, filename));
    wholeNumber('version', version);
    if (version > MAX_VERSION) return undefined;
    const which = version === 0 ? 'ORDER BY version DESC LIMIT 1' : 'AND version = ?';
    const sql = `SELECT version, mime_type, ${column} FROM adk_artifact_versions ${OF_FILE} ${which}`;
    return engine.transaction('read', () => one(sql, version === 0 ? file : [...file, version]));
  }

  async delete(key: SessionKey, filename: string, version = 0): Promise<void> {
    const engine = this.#ready();
    const file = fileOf(artifactPlace(key, filename));
    wholeNumber('version', version);
    if (version > MAX_VERSION) return;
    const sql = `DELETE FROM adk_artifact_versions ${OF_FILE}${version === 0 ? '' : ' AND version = ?'}`;
    await engine.transaction('write', () => runStatement(sql, version === 0 ? file : [...file, version]));
  }

  async copy(source: SessionKey, target: SessionKey, files: ArtifactVersions): Promise<void> {
    const engine = this.#ready();
    const { dialect } = engine;
    const insert = `INSERT INTO adk_artifact_versions
      (app_name, user_id, session_id, filename, version, mime_type, inserted_at, data)
      SELECT app_name, user_id, ${dialect.textValue}, filename, version, mime_type, inserted_at, data
        FROM adk_artifact_versions ${OF_FILE} AND version = ?
        AND NOT EXISTS (SELECT 1 FROM adk_artifact_versions there WHERE there.app_name = ? AND there.user_id = ?
          AND there.session_id = ? AND there.filename = ? AND there.version = ?)`;
    for (const [filename, versions] of copiedVersions(source, target, files)) {
      const from = fileOf(artifactPlace(source, filename));
      const to = fileOf(artifactPlace(target, filename));
      for (const version of versions.filter((one) => one <= MAX_VERSION)) {
        const upsert = `INSERT INTO adk_artifacts (app_name, user_id, session_id, filename, last_version)
          VALUES (?, ?, ?, ?, ${version}) ${dialect.onConflict(
            ['app_name', 'user_id', 'session_id', 'filename'],
            [
              `last_version = CASE WHEN adk_artifacts.last_version < ${version} THEN ${version} ELSE adk_artifacts.last_version END`,
            ],
          )}`;
        await engine.transaction('write', function* () {
          yield* runStatement(upsert, to);
          yield* runStatement(insert, [target.id, ...from, version, ...to, version]);
        });
      }
    }
  }

  async erase({ app, userId, id }: { app: string; userId: string; id?: string }): Promise<void> {
    const engine = this.#ready();
    if (id === undefined) checkScope({ app, userId });
    else checkKey({ app, userId, id });
    const given = id === undefined ? [app, userId] : [app, userId, id];
    // What is the user's is no session's, not even of one that is called so.
    const ofSession = id === undefined ? '' : " AND session_id = ? AND filename NOT LIKE 'user:%'";
    await engine.transaction('write', function* () {
      for (const table of ['adk_artifact_versions', 'adk_artifacts'])
        yield* runStatement(`DELETE FROM ${table} WHERE app_name = ? AND user_id = ?${ofSession}`, given);
    });
  }

  async list(key: SessionKey): Promise<string[]> {
    const engine = this.#ready();
    checkKey(key);
    const sql = `SELECT DISTINCT session_id, filename FROM adk_artifact_versions
      WHERE app_name = ? AND user_id = ? AND session_id IN (?, 'user')`;
    const rows = await engine.transaction('read', () => all(sql, [key.app, key.userId, key.id]));
    return rows
      .filter((row) => row.session_id === key.id || String(row.filename).startsWith('user:'))
      .map(({ filename }) => String(filename))
      .sort();
  }

  async versions(key: SessionKey, filename: string): Promise<number[]> {
    const engine = this.#ready();
    const file = fileOf(artifactPlace(key, filename));
    const sql = `SELECT version FROM adk_artifact_versions ${OF_FILE} ORDER BY version DESC`;
    const rows = await engine.transaction('read', () => all(sql, file));
    return rows.map(({ version }) => Number(version));
  }
}
