import { fillOpenTurns, fillSessionFacts } from '../statements/index.ts';

// Names, columns and keys of the first four tables are shared with other readers; what they do not know is last in
// each. JSON is text; timestamps are ISO 8601 in UTC with microseconds and without zone.

const openCalls = (table: string) => `CREATE TABLE ${table} (
    app_name TEXT NOT NULL,
    user_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    name TEXT NOT NULL,
    seq INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    inserted_at TEXT NOT NULL,
    PRIMARY KEY (app_name, user_id, session_id, call_id)
  )`;

/** The same table of another kind, with the rows that are there. */
const openCallsAgain = (kind: string) => [
  `${openCalls('adk_open_calls_anew')} ${kind}`,
  'INSERT INTO adk_open_calls_anew SELECT * FROM adk_open_calls',
  'DROP TABLE adk_open_calls',
  'ALTER TABLE adk_open_calls_anew RENAME TO adk_open_calls',
];

export const sqliteSteps = [
  {
    up: [
      `CREATE TABLE adk_sessions (
        app_name TEXT NOT NULL,
        user_id TEXT NOT NULL,
        id TEXT NOT NULL,
        state TEXT NOT NULL DEFAULT '{}',
        inserted_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        last_seq INTEGER NOT NULL DEFAULT 0,
        epoch INTEGER NOT NULL DEFAULT 0,
        owner TEXT,
        title TEXT,
        initial_state TEXT NOT NULL DEFAULT '{}',
        PRIMARY KEY (app_name, user_id, id)
      )`,
      'CREATE INDEX adk_sessions_app_name_inserted_at_index ON adk_sessions (app_name, inserted_at)',
      `CREATE TABLE adk_events (
        id TEXT NOT NULL,
        app_name TEXT NOT NULL,
        user_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        invocation_id TEXT,
        author TEXT,
        content TEXT,
        actions TEXT,
        branch TEXT,
        partial INTEGER,
        turn_complete INTEGER,
        error_code TEXT,
        error_message TEXT,
        interrupted INTEGER,
        custom_metadata TEXT,
        usage_metadata TEXT,
        citation_metadata TEXT,
        grounding_metadata TEXT,
        long_running_tool_ids TEXT DEFAULT '[]',
        timestamp TEXT,
        seq INTEGER NOT NULL,
        PRIMARY KEY (id, app_name, user_id, session_id)
      )`,
      'CREATE INDEX adk_events_app_name_user_id_session_id_index ON adk_events (app_name, user_id, session_id)',
      'CREATE INDEX adk_events_invocation_id_index ON adk_events (invocation_id)',
      'CREATE UNIQUE INDEX adk_events_seq_index ON adk_events (app_name, user_id, session_id, seq)',
      `CREATE TABLE adk_app_states (
        app_name TEXT NOT NULL PRIMARY KEY,
        state TEXT NOT NULL DEFAULT '{}',
        updated_at TEXT NOT NULL,
        version INTEGER NOT NULL DEFAULT 0
      )`,
      `CREATE TABLE adk_user_states (
        app_name TEXT NOT NULL,
        user_id TEXT NOT NULL,
        state TEXT NOT NULL DEFAULT '{}',
        updated_at TEXT NOT NULL,
        version INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (app_name, user_id)
      )`,
      openCalls('adk_open_calls'),
    ],
    down: ['adk_open_calls', 'adk_user_states', 'adk_app_states', 'adk_events', 'adk_sessions'].map(
      (table) => `DROP TABLE ${table}`,
    ),
  },
  {
    up: [
      `CREATE TABLE adk_memories (
        app_name TEXT NOT NULL,
        user_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        ordinal INTEGER NOT NULL,
        author TEXT NOT NULL,
        content TEXT NOT NULL,
        timestamp TEXT NOT NULL,
        words TEXT NOT NULL,
        inserted_at TEXT NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, ordinal)
      )`,
      `CREATE TABLE adk_artifacts (
        app_name TEXT NOT NULL,
        user_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        filename TEXT NOT NULL,
        last_version INTEGER NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, filename)
      )`,
      `CREATE TABLE adk_artifact_versions (
        app_name TEXT NOT NULL,
        user_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        filename TEXT NOT NULL,
        version INTEGER NOT NULL,
        mime_type TEXT NOT NULL,
        inserted_at TEXT NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, filename, version)
      )`,
    ],
    down: ['adk_artifact_versions', 'adk_artifacts', 'adk_memories'].map((table) => `DROP TABLE ${table}`),
  },
  {
    up: [
      `CREATE TABLE adk_open_turns (
        app_name TEXT NOT NULL,
        user_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        agent TEXT NOT NULL,
        inserted_at TEXT NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id)
      )`,
      fillOpenTurns,
    ],
    down: ['DROP TABLE adk_open_turns'],
  },
  {
    up: [
      `CREATE TABLE adk_journals (
        app_name TEXT NOT NULL,
        user_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        agent TEXT NOT NULL,
        root_id TEXT NOT NULL,
        id TEXT NOT NULL,
        last_seq INTEGER NOT NULL,
        waits INTEGER NOT NULL,
        inserted_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, agent)
      )`,
      'CREATE INDEX adk_journals_root_index ON adk_journals (app_name, user_id, root_id)',
      `CREATE TABLE adk_journal_records (
        app_name TEXT NOT NULL,
        user_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        agent TEXT NOT NULL,
        seq INTEGER NOT NULL,
        record TEXT NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, agent, seq)
      )`,
    ],
    down: ['DROP TABLE adk_journal_records', 'DROP TABLE adk_journals'],
  },
  {
    up: [
      `CREATE TABLE adk_checkpoints (
        app_name TEXT NOT NULL,
        user_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        digest TEXT NOT NULL,
        data TEXT NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id)
      )`,
    ],
    down: ['DROP TABLE adk_checkpoints'],
  },
  // An open call was a row of the table and one of its index: each was written twice, and taken away twice.
  { up: openCallsAgain('WITHOUT ROWID'), down: openCallsAgain('') },
  {
    up: [
      `CREATE TABLE adk_dead_holders (
        app_name TEXT NOT NULL,
        user_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        owner TEXT NOT NULL,
        deaths INTEGER NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id)
      )`,
    ],
    down: ['DROP TABLE adk_dead_holders'],
  },
  {
    up: [
      `CREATE TABLE adk_memory_vectors (
        app_name TEXT NOT NULL,
        user_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        ordinal INTEGER NOT NULL,
        embedded_by TEXT NOT NULL,
        embedding BLOB NOT NULL,
        inserted_at TEXT NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, ordinal)
      )`,
      'CREATE INDEX adk_memory_vectors_newest_index ON adk_memory_vectors (app_name, user_id, embedded_by, inserted_at)',
    ],
    down: ['DROP TABLE adk_memory_vectors'],
  },
  {
    up: [
      `CREATE TABLE adk_session_facts (
        app_name TEXT NOT NULL,
        user_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        agent TEXT NOT NULL,
        steps INTEGER NOT NULL,
        input_tokens INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL,
        nano_usd INTEGER NOT NULL,
        tools TEXT NOT NULL,
        uncounted INTEGER NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id)
      )`,
      fillSessionFacts,
    ],
    down: ['DROP TABLE adk_session_facts'],
  },
  {
    up: [
      `CREATE TABLE adk_questions (
        app_name TEXT NOT NULL,
        user_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        request_id TEXT NOT NULL,
        call_id TEXT NOT NULL,
        tool TEXT,
        kind TEXT,
        asked_at INTEGER,
        expires_at INTEGER,
        quorum INTEGER,
        rule_id TEXT,
        action TEXT,
        edited INTEGER NOT NULL,
        decided_by TEXT,
        decided_at INTEGER,
        outcome TEXT,
        result TEXT,
        ended_at INTEGER,
        people TEXT NOT NULL,
        answerers TEXT NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, request_id)
      ) WITHOUT ROWID`,
      'CREATE INDEX adk_questions_newest_index ON adk_questions (app_name, decided_at, user_id, session_id, request_id)',
      'CREATE INDEX adk_questions_user_index ON adk_questions (app_name, user_id, decided_at, session_id, request_id)',
      // A session may have asked about thousands of calls: what is asked of it by each append looks at none of the others.
      'CREATE INDEX adk_questions_call_index ON adk_questions (app_name, user_id, session_id, call_id)',
      'CREATE INDEX adk_questions_open_index ON adk_questions (app_name, user_id, session_id, result)',
      `CREATE TABLE adk_question_people (
        app_name TEXT NOT NULL,
        user_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        request_id TEXT NOT NULL,
        person TEXT NOT NULL,
        decided_at INTEGER NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, request_id, person)
      ) WITHOUT ROWID`,
      `CREATE INDEX adk_question_people_newest_index
        ON adk_question_people (app_name, person, decided_at, user_id, session_id, request_id)`,
      // Whoever makes a session says 0: those that are there were not looked through.
      'ALTER TABLE adk_sessions ADD COLUMN asked INTEGER NOT NULL DEFAULT -1',
      'CREATE INDEX adk_sessions_unread_index ON adk_sessions (app_name, inserted_at) WHERE asked < 0',
    ],
    down: [
      'DROP INDEX adk_sessions_unread_index',
      'ALTER TABLE adk_sessions DROP COLUMN asked',
      'DROP TABLE adk_question_people',
      'DROP TABLE adk_questions',
    ],
  },
];

/** Kept in `PRAGMA user_version`. */
export const SCHEMA_VERSION = sqliteSteps.length;
