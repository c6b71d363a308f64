import type { SessionUpdate, ToolCallContent, ToolCallUpdate } from '@agentclientprotocol/sdk';
import type { Frame } from './told-app.ts';

/*
 * How agents that people use tell of a command or an edit that they ask about: which members come when, with values
 * of our own. Seen with the versions named, on loopback.
 */

const words = (text: string): ToolCallContent => ({ type: 'content', content: { type: 'text', text } });
const tell = (update: SessionUpdate): Frame => ({ update });
const next = (update: ToolCallUpdate): Frame => tell({ sessionUpdate: 'tool_call_update', ...update });

/** codex-acp 0.16.0: the raw input is a record of an event, with its time; announced after the yes, if at all. */
export function codexCommand(id: string, command: string, ran = command): Frame[] {
  const record = { call_id: id, turn_id: 't1', cwd: '/work', parsed_cmd: [{ type: 'unknown', cmd: command }] };
  const run = { ...record, command: ['bash', '-lc', ran], process_id: '71', source: 'unified_exec_startup' };
  return [
    {
      ask: {
        toolCallId: id,
        kind: 'execute',
        status: 'pending',
        title: command,
        content: [words('Proposed: once, or for all of its kind')],
        rawInput: {
          ...record,
          command: ['bash', '-lc', command],
          started_at_ms: 1000,
          proposed_execpolicy_amendment: [command],
          available_decisions: ['approved', 'abort'],
        },
      },
      yes: [
        tell({
          sessionUpdate: 'tool_call',
          toolCallId: id,
          kind: 'execute',
          status: 'in_progress',
          title: ran,
          rawInput: { ...run, started_at_ms: 1333 },
        }),
        next({
          toolCallId: id,
          status: 'completed',
          rawOutput: { ...run, completed_at_ms: 1400, stdout: 'a.txt\n', stderr: '', formatted_output: 'a.txt\n' },
        }),
      ],
    },
  ];
}

/** codex-acp 0.16.0: an edit is announced as begun, then asked about, each with a record of its own. */
export function codexEdit(id: string, path: string): Frame[] {
  const record = { call_id: id, turn_id: 't1', changes: { [path]: { type: 'add', content: 'new\n' } } };
  const told = {
    toolCallId: id,
    kind: 'edit' as const,
    title: `Edit ${path}`,
    content: [{ type: 'diff' as const, path, newText: 'new\n' }],
    locations: [{ path }],
  };
  return [
    tell({
      sessionUpdate: 'tool_call',
      ...told,
      status: 'in_progress',
      rawInput: { ...record, auto_approved: false },
    }),
    {
      ask: { ...told, status: 'pending', rawInput: { ...record, started_at_ms: 1000 } },
      yes: [
        next({
          ...told,
          status: 'completed',
          rawOutput: { call_id: id, turn_id: 't1', stdout: 'Success\n', stderr: '', success: true },
        }),
      ],
    },
  ];
}

/** codex-acp 2.6.0: announced as begun and asked about at once; output comes as that of a terminal. */
export function newCodexCommand(id: string, command: string, output = ''): Frame[] {
  const rawInput = { command, cwd: '/work' };
  const exit = { terminal_exit: { exit_code: 0, signal: null, terminal_id: id } };
  return [
    tell({
      sessionUpdate: 'tool_call',
      toolCallId: id,
      kind: 'execute',
      title: command,
      status: 'in_progress',
      content: [{ type: 'terminal', terminalId: id }],
      rawInput,
      _meta: { terminal_info: { cwd: '/work', terminal_id: id } },
    }),
    {
      ask: { toolCallId: id, kind: 'execute', title: command, status: 'pending', rawInput },
      yes: [
        next({
          toolCallId: id,
          status: 'completed',
          _meta: output === '' ? exit : { terminal_output_delta: { data: output, terminal_id: id }, ...exit },
        }),
      ],
      no: [next({ toolCallId: id, status: 'failed' })],
    },
  ];
}

/** opencode 1.18: announced as begun with all it has, asked about with a part of it, told again while it runs. */
export function opencodeCommand(id: string, command: string, ran = command): Frame[] {
  const rawInput = { command, description: 'lists files', cwd: '/work' };
  const told = { toolCallId: id, kind: 'execute' as const, title: command };
  const run = next({ ...told, status: 'in_progress', rawInput: { ...rawInput, command: ran } });
  return [
    tell({ sessionUpdate: 'tool_call', ...told, status: 'pending', rawInput: { cwd: '/work' } }),
    next({ ...told, status: 'in_progress', rawInput }),
    {
      ask: { ...told, status: 'pending', locations: [], rawInput: { command } },
      yes: [
        run,
        next({ ...told, status: 'in_progress', content: [words('a.txt')] }),
        next({
          toolCallId: id,
          status: 'completed',
          content: [words('a.txt')],
          rawOutput: { output: 'a.txt', metadata: { exit: 0 } },
        }),
      ],
    },
  ];
}

/** claude-agent-acp 0.101: the input comes in pieces, with its own description as content, before the question. */
export function claudeCommand(id: string, command: string, description: string): Frame[] {
  const rawInput = { command, description };
  const told = { toolCallId: id, _meta: { claudeCode: { toolName: 'Bash' } } };
  const call = { toolCallId: id, name: 'Bash', kind: 'execute' as const };
  return [
    tell({ sessionUpdate: 'tool_call', ...call, status: 'pending', title: 'Terminal', rawInput: {}, content: [] }),
    next({ ...told, title: command, rawInput: { command } }),
    next({ ...told, rawInput, content: [words(description)] }),
    {
      ask: { ...call, status: 'pending', title: command, rawInput, content: [words(description)] },
      yes: [
        next({ toolCallId: id, _meta: { claudeCode: { toolResponse: { stdout: '', stderr: '' } } } }),
        next({ ...told, status: 'completed' }),
      ],
    },
  ];
}
