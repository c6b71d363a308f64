import { fillOpenTurns, fillSessionFacts } from '../statements/index.ts';

// JSON is text: jsonb refuses \u0000 and lone surrogates and reorders keys. Keys compare by their bytes.

const key = 'varchar(128) COLLATE "C" NOT NULL';

export const postgresSteps = [
  {
    up: [
      `CREATE TABLE IF NOT EXISTS adk_sessions (
        app_name ${key},
        user_id ${key},
        id ${key},
        state text NOT NULL DEFAULT '{}',
        inserted_at timestamp(6) NOT NULL,
        updated_at timestamp(6) NOT NULL,
        last_seq integer NOT NULL DEFAULT 0,
        epoch integer NOT NULL DEFAULT 0,
        owner text,
        title text,
        initial_state text NOT NULL DEFAULT '{}',
        PRIMARY KEY (app_name, user_id, id)
      )`,
      'CREATE INDEX IF NOT EXISTS adk_sessions_app_name_inserted_at_index ON adk_sessions (app_name, inserted_at)',
      `CREATE TABLE IF NOT EXISTS adk_events (
        id varchar(255) COLLATE "C" NOT NULL,
        app_name ${key},
        user_id ${key},
        session_id ${key},
        invocation_id text,
        author text,
        content text,
        actions text,
        branch text,
        partial boolean,
        turn_complete boolean,
        error_code text,
        error_message text,
        interrupted boolean,
        custom_metadata text,
        usage_metadata text,
        citation_metadata text,
        grounding_metadata text,
        long_running_tool_ids text DEFAULT '[]',
        timestamp timestamp(6),
        seq integer NOT NULL,
        PRIMARY KEY (id, app_name, user_id, session_id)
      )`,
      `CREATE INDEX IF NOT EXISTS adk_events_app_name_user_id_session_id_index
        ON adk_events (app_name, user_id, session_id)`,
      'CREATE INDEX IF NOT EXISTS adk_events_invocation_id_index ON adk_events (invocation_id)',
      `CREATE UNIQUE INDEX IF NOT EXISTS adk_events_seq_index
        ON adk_events (app_name, user_id, session_id, seq)`,
      `CREATE TABLE IF NOT EXISTS adk_app_states (
        app_name ${key} PRIMARY KEY,
        state text NOT NULL DEFAULT '{}',
        updated_at timestamp(6) NOT NULL,
        version bigint NOT NULL DEFAULT 0
      )`,
      `CREATE TABLE IF NOT EXISTS adk_user_states (
        app_name ${key},
        user_id ${key},
        state text NOT NULL DEFAULT '{}',
        updated_at timestamp(6) NOT NULL,
        version bigint NOT NULL DEFAULT 0,
        PRIMARY KEY (app_name, user_id)
      )`,
      `CREATE TABLE IF NOT EXISTS adk_open_calls (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        call_id varchar(255) COLLATE "C" NOT NULL,
        name text NOT NULL,
        seq integer NOT NULL,
        ordinal integer NOT NULL,
        inserted_at timestamp(6) NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, call_id)
      )`,
    ],
    down: ['adk_open_calls', 'adk_user_states', 'adk_app_states', 'adk_events', 'adk_sessions'].map(
      (table) => `DROP TABLE IF EXISTS ${table}`,
    ),
  },
  {
    up: [
      `CREATE TABLE IF NOT EXISTS adk_memories (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        ordinal integer NOT NULL,
        author text NOT NULL,
        content text NOT NULL,
        timestamp varchar(32) COLLATE "C" NOT NULL,
        words text NOT NULL,
        inserted_at timestamp(6) NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, ordinal)
      )`,
      `CREATE TABLE IF NOT EXISTS adk_artifacts (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        filename varchar(255) COLLATE "C" NOT NULL,
        last_version integer NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, filename)
      )`,
      `CREATE TABLE IF NOT EXISTS adk_artifact_versions (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        filename varchar(255) COLLATE "C" NOT NULL,
        version integer NOT NULL,
        mime_type text NOT NULL,
        inserted_at timestamp(6) NOT NULL,
        data bytea NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, filename, version)
      )`,
    ],
    down: ['adk_artifact_versions', 'adk_artifacts', 'adk_memories'].map((table) => `DROP TABLE IF EXISTS ${table}`),
  },
  {
    up: [
      `CREATE TABLE IF NOT EXISTS adk_open_turns (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        agent text NOT NULL,
        inserted_at timestamp(6) NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id)
      )`,
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
        id varchar(36) COLLATE "C" NOT NULL,
        last_seq integer NOT NULL,
        waits integer NOT NULL,
        inserted_at timestamp(6) NOT NULL,
        updated_at timestamp(6) NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, agent)
      )`,
      'CREATE INDEX IF NOT EXISTS adk_journals_root_index ON adk_journals (app_name, user_id, root_id)',
      `CREATE TABLE IF NOT EXISTS adk_journal_records (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        agent ${key},
        seq integer NOT NULL,
        record text NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, agent, seq)
      )`,
    ],
    down: ['DROP TABLE IF EXISTS adk_journal_records', 'DROP TABLE IF EXISTS adk_journals'],
  },
  {
    up: [
      `CREATE TABLE IF NOT EXISTS adk_checkpoints (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        seq integer NOT NULL,
        digest varchar(64) COLLATE "C" NOT NULL,
        data text NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id)
      )`,
    ],
    down: ['DROP TABLE IF EXISTS adk_checkpoints'],
  },
  {
    up: [
      `CREATE TABLE IF NOT EXISTS adk_dead_holders (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        seq integer NOT NULL,
        owner text NOT NULL,
        deaths integer NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id)
      )`,
    ],
    down: ['DROP TABLE IF EXISTS adk_dead_holders'],
  },
  {
    // Whose holder is gone is looked for every second: among the sessions that somebody holds, not among all.
    up: ['CREATE INDEX IF NOT EXISTS adk_sessions_held_index ON adk_sessions (app_name) WHERE owner IS NOT NULL'],
    down: ['DROP INDEX IF EXISTS adk_sessions_held_index'],
  },
  {
    up: [
      `CREATE TABLE IF NOT EXISTS adk_memory_vectors (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        ordinal integer NOT NULL,
        embedded_by varchar(64) COLLATE "C" NOT NULL,
        embedding bytea NOT NULL,
        inserted_at timestamp(6) NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, ordinal)
      )`,
      'CREATE INDEX IF NOT EXISTS adk_memory_vectors_newest_index ON adk_memory_vectors (app_name, user_id, embedded_by, inserted_at)',
    ],
    down: ['DROP TABLE IF EXISTS adk_memory_vectors'],
  },
  {
    up: [
      `CREATE TABLE IF NOT EXISTS adk_session_facts (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        agent text NOT NULL,
        steps integer NOT NULL,
        input_tokens bigint NOT NULL,
        output_tokens bigint NOT NULL,
        nano_usd bigint NOT NULL,
        tools text NOT NULL,
        uncounted integer NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id)
      )`,
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
        request_id varchar(255) COLLATE "C" NOT NULL,
        call_id varchar(255) COLLATE "C" NOT NULL,
        tool text,
        kind text,
        asked_at bigint,
        expires_at bigint,
        quorum bigint,
        rule_id text,
        action varchar(16),
        edited smallint NOT NULL,
        decided_by text,
        decided_at bigint,
        outcome varchar(16),
        result varchar(16),
        ended_at bigint,
        people text NOT NULL,
        answerers text NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, request_id)
      )`,
      'CREATE INDEX IF NOT EXISTS adk_questions_newest_index ON adk_questions (app_name, decided_at, user_id, session_id, request_id)',
      'CREATE INDEX IF NOT EXISTS adk_questions_user_index ON adk_questions (app_name, user_id, decided_at, session_id, request_id)',
      // A session may have asked about thousands of calls: what is asked of it by each append looks at none of the others.
      'CREATE INDEX IF NOT EXISTS adk_questions_call_index ON adk_questions (app_name, user_id, session_id, call_id)',
      'CREATE INDEX IF NOT EXISTS adk_questions_open_index ON adk_questions (app_name, user_id, session_id, result)',
      `CREATE TABLE IF NOT EXISTS adk_question_people (
        app_name ${key},
        user_id ${key},
        session_id ${key},
        request_id varchar(255) COLLATE "C" NOT NULL,
        person ${key},
        decided_at bigint NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, request_id, person)
      )`,
      `CREATE INDEX IF NOT EXISTS adk_question_people_newest_index
        ON adk_question_people (app_name, person, decided_at, user_id, session_id, request_id)`,
      // Whoever makes a session says 0: those that are there were not looked through.
      'ALTER TABLE adk_sessions ADD COLUMN IF NOT EXISTS asked integer NOT NULL DEFAULT -1',
      'CREATE INDEX IF NOT EXISTS adk_sessions_unread_index ON adk_sessions (app_name, inserted_at) WHERE asked < 0',
    ],
    down: [
      'DROP INDEX IF EXISTS adk_sessions_unread_index',
      'ALTER TABLE adk_sessions DROP COLUMN IF EXISTS asked',
      'DROP TABLE IF EXISTS adk_question_people',
      'DROP TABLE IF EXISTS adk_questions',
    ],
  },
];
