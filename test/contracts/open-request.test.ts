import { describe, expect, test } from 'vitest';
import type { ReportedRequest } from '../../src/contracts/index.ts';
import { openRequestOf } from '../../src/contracts/index.ts';

const base = {
  requestId: 'r',
  sessionId: 's',
  turnId: 't',
  started: false,
  path: '',
  agentPath: ['bot'],
  requestedAt: 'now',
};
const request = (more: Partial<ReportedRequest>): ReportedRequest => ({ ...base, kind: 'tool', ...more });
const call = { callId: 'c', name: 'pay', args: { eur: 5 } };
const approval = { title: 'Run pay?', preview: [], previewDigest: 'd', requestedBy: { id: 'ann' }, remember: [] };

describe('an open request has what its kind has', () => {
  test.each<[string, ReportedRequest, object]>([
    ['a call', request(call), { kind: 'tool', ...call }],
    ['a call of an executor that says little', request({}), { kind: 'tool', callId: 'r', name: '', args: {} }],
    [
      'a question to a person',
      request({ ...call, kind: 'elicitation', elicitation: 'tool_confirmation', message: 'Pay?', approval }),
      { kind: 'elicitation', elicitation: 'tool_confirmation', ...call, message: 'Pay?', approval },
    ],
    [
      'one of an executor that says little',
      request({ approval }),
      { kind: 'elicitation', elicitation: 'tool_confirmation', callId: 'r', name: '', args: {}, message: 'Run pay?' },
    ],
    [
      'whether a call runs once more, asked by a host',
      request({ ...call, kind: 'rerun_unknown', approval }),
      { kind: 'rerun_unknown', elicitation: 'rerun_unknown', ...call, message: 'Run pay?', approval },
    ],
    [
      'whether a call runs once more, asked by its agent',
      request({ ...call, kind: 'rerun_unknown', message: 'Again?' }),
      { kind: 'rerun_unknown', elicitation: 'rerun_unknown', ...call, message: 'Again?' },
    ],
    [
      'a credential',
      request({ kind: 'elicitation', elicitation: 'auth_required', message: 'Key?' }),
      { kind: 'elicitation', elicitation: 'auth_required', message: 'Key?' },
    ],
    [
      'words, of an executor that says little',
      request({ kind: 'elicitation' }),
      { kind: 'elicitation', elicitation: 'clarification', message: '' },
    ],
    [
      'a kind of a newer executor',
      request({ kind: '_vote', message: 'Which?' }),
      { kind: 'elicitation', elicitation: '_vote', message: 'Which?' },
    ],
  ])('%s', (_, given, has) => {
    const open = openRequestOf(given);
    expect(open).toMatchObject({ ...base, ...has });
    expect(openRequestOf(open)).toEqual(open);
  });
});
