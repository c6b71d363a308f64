import type { SchemaStep } from '../statements/index.ts';
import { fillOpenTurns, fillSessionFacts } from '../statements/index.ts';

// A binary collation: otherwise 'abc' = 'ABC'. JSON is text; utf8mb4 is what holds every character.

const key = 'varchar(128) NOT NULL';
const table = 'ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

const ofSessions = "table_schema = database() AND table_name = 'adk_sessions'";
const hasColumn = (name: string) =>
  `SELECT 1 AS done FROM information_schema.columns WHERE ${ofSessions} AND column_name = '${name}'`;
const hasIndex = (name: string) =>
  `SELECT 1 AS done FROM information_schema.statistics WHERE ${ofSessions} AND index_name = '${name}' LIMIT 1`;
const without = (found: string) => `SELECT 1 AS done FROM dual WHERE NOT EXISTS (${found})`;

export const mysqlSteps: readonly SchemaStep[] = [
  {
    up: [
      `CREATE TABLE IF NOT EXISTS adk_sessions (
        app_name ${key},
        user_id ${key},
        id ${key},
        state longtext NOT NULL DEFAULT ('{}'),
        inserted_at datetime(6) NOT NULL,
        updated_at datetime(6) NOT NULL,
        last_seq int NOT NULL DEFAULT 0,
        epoch int NOT NULL DEFAULT 0,
        owner text,
        title longtext,
        initial_state longtext NOT NULL DEFAULT ('{}'),
        PRIMARY KEY (app_name, user_id, id),
        INDEX adk_sessions_app_name_inserted_at_index (app_name, inserted_at)
      ) ${table}`,
      `CREATE TABLE IF NOT EXISTS adk_events (
        id varchar(255) NOT NULL,
        app_name ${key},
        user_id ${key},
        session_id ${key},
        invocation_id longtext,
        author longtext,
        content longtext,
        actions longtext,
        branch longtext,
        \`partial\` boolean,
        turn_complete boolean,
        error_code longtext,
        error_message longtext,
        interrupted boolean,
        custom_metadata longtext,
        usage_metadata longtext,
        citation_metadata longtext,
        grounding_metadata longtext,
        long_running_tool_ids longtext DEFAULT ('[]'),
        timestamp datetime(6),
        seq int NOT NULL,
        PRIMARY KEY (id, app_name, user_id, session_id),
        INDEX adk_events_app_name_user_id_session_id_index (app_name, user_id, session_id),
        INDEX adk_events_invocation_id_index (invocation_id(64)),
        UNIQUE INDEX adk_events_seq_index (app_name, user_id, session_id, seq)
      ) ${table}`,
      `CREATE TABLE IF NOT EXISTS adk_app_states (
        app_name ${key} PRIMARY KEY,
        state longtext NOT NULL DEFAULT ('{}'),
        updated_at datetime(6) NOT NULL,
        version bigint NOT NULL DEFAULT 0
      ) ${table}`,
      `CREATE TABLE IF NOT EXISTS adk_user_states (
        app_name ${key},
        user_id ${key},
        state longtext NOT NULL DEFAULT ('{}'),
        updated_at datetime(6) NOT NULL,
        version bigint NOT NULL DEFAULT 0,
        PRIMARY KEY (app_name, user_id)
      ) ${table}`,
      `CREATE TABLE IF NOT EXISTS adk_open_calls (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        call_id varchar(255) NOT NULL,
        name longtext NOT NULL,
        seq int NOT NULL,
        ordinal int NOT NULL,
        inserted_at datetime(6) NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, call_id)
      ) ${table}`,
    ],
    down: ['adk_open_calls', 'adk_user_states', 'adk_app_states', 'adk_events', 'adk_sessions'].map(
      (name) => `DROP TABLE IF EXISTS ${name}`,
    ),
  },
  {
    up: [
      `CREATE TABLE IF NOT EXISTS adk_memories (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        ordinal int NOT NULL,
        author longtext NOT NULL,
        content longtext NOT NULL,
        timestamp varchar(32) NOT NULL,
        words longtext NOT NULL,
        inserted_at datetime(6) NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, ordinal)
      ) ${table}`,
      `CREATE TABLE IF NOT EXISTS adk_artifacts (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        filename varchar(255) NOT NULL,
        last_version int NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, filename)
      ) ${table}`,
      `CREATE TABLE IF NOT EXISTS adk_artifact_versions (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        filename varchar(255) NOT NULL,
        version int NOT NULL,
        mime_type longtext NOT NULL,
        inserted_at datetime(6) NOT NULL,
        data longblob NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, filename, version)
      ) ${table}`,
    ],
    down: ['adk_artifact_versions', 'adk_artifacts', 'adk_memories'].map((name) => `DROP TABLE IF EXISTS ${name}`),
  },
  {
    up: [
      `CREATE TABLE IF NOT EXISTS adk_open_turns (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        agent longtext NOT NULL,
        inserted_at datetime(6) NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id)
      ) ${table}`,
      fillOpenTurns,
    ],
    down: ['DROP TABLE IF EXISTS adk_open_turns'],
  },
  {
    up: [
      `CREATE TABLE IF NOT EXISTS adk_journals (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        agent ${key},
        root_id ${key},
        id varchar(36) NOT NULL,
        last_seq int NOT NULL,
        waits int NOT NULL,
        inserted_at datetime(6) NOT NULL,
        updated_at datetime(6) NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, agent),
        INDEX adk_journals_root_index (app_name, user_id, root_id)
      ) ${table}`,
      `CREATE TABLE IF NOT EXISTS adk_journal_records (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        agent ${key},
        seq int NOT NULL,
        record longtext NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, agent, seq)
      ) ${table}`,
    ],
    down: ['DROP TABLE IF EXISTS adk_journal_records', 'DROP TABLE IF EXISTS adk_journals'],
  },
  {
    up: [
      `CREATE TABLE IF NOT EXISTS adk_checkpoints (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        seq int NOT NULL,
        digest varchar(64) NOT NULL,
        data longtext NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id)
      ) ${table}`,
    ],
    down: ['DROP TABLE IF EXISTS adk_checkpoints'],
  },
  {
    up: [
      `CREATE TABLE IF NOT EXISTS adk_dead_holders (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        seq int NOT NULL,
        owner text NOT NULL,
        deaths int NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id)
      ) ${table}`,
    ],
    down: ['DROP TABLE IF EXISTS adk_dead_holders'],
  },
  {
    up: [
      `CREATE TABLE IF NOT EXISTS adk_memory_vectors (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        ordinal int NOT NULL,
        embedded_by varchar(64) NOT NULL,
        embedding longblob NOT NULL,
        inserted_at datetime(6) NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, ordinal)
      ) ${table}`,
    ],
    down: ['DROP TABLE IF EXISTS adk_memory_vectors'],
  },
  {
    up: [
      `CREATE TABLE IF NOT EXISTS adk_session_facts (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        agent longtext NOT NULL,
        steps int NOT NULL,
        input_tokens bigint NOT NULL,
        output_tokens bigint NOT NULL,
        nano_usd bigint NOT NULL,
        tools longtext NOT NULL,
        uncounted int NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id)
      ) ${table}`,
      fillSessionFacts,
    ],
    down: ['DROP TABLE IF EXISTS adk_session_facts'],
  },
  {
    up: [
      `CREATE TABLE IF NOT EXISTS adk_questions (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        request_id varchar(255) NOT NULL,
        call_id varchar(255) NOT NULL,
        tool longtext,
        kind longtext,
        asked_at bigint,
        expires_at bigint,
        quorum bigint,
        rule_id longtext,
        action varchar(16),
        edited smallint NOT NULL,
        decided_by longtext,
        decided_at bigint,
        outcome varchar(16),
        result varchar(16),
        ended_at bigint,
        people longtext NOT NULL,
        answerers longtext NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, request_id),
        INDEX adk_questions_newest_index (app_name, decided_at, user_id, session_id, request_id),
        INDEX adk_questions_user_index (app_name, user_id, decided_at, session_id, request_id),
        INDEX adk_questions_call_index (app_name, user_id, session_id, call_id),
        INDEX adk_questions_open_index (app_name, user_id, session_id, result)
      ) ${table}`,
      `CREATE TABLE IF NOT EXISTS adk_question_people (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        request_id varchar(255) NOT NULL,
        person varchar(100) NOT NULL,
        decided_at bigint NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, request_id, person),
        INDEX adk_question_people_newest_index (app_name, person, decided_at, user_id, session_id, request_id)
      ) ${table}`,
      // Whoever makes a session says 0: those that are there were not looked through.
      { sql: 'ALTER TABLE adk_sessions ADD COLUMN asked int NOT NULL DEFAULT -1', unless: hasColumn('asked') },
      {
        sql: 'CREATE INDEX adk_sessions_unread_index ON adk_sessions (app_name, asked, inserted_at)',
        unless: hasIndex('adk_sessions_unread_index'),
      },
    ],
    down: [
      {
        sql: 'DROP INDEX adk_sessions_unread_index ON adk_sessions',
        unless: without(hasIndex('adk_sessions_unread_index')),
      },
      { sql: 'ALTER TABLE adk_sessions DROP COLUMN asked', unless: without(hasColumn('asked')) },
      'DROP TABLE IF EXISTS adk_question_people',
      'DROP TABLE IF EXISTS adk_questions',
    ],
  },
];
