import type { AgentEvent, SessionInput, ToolResultInput } from '../../../src/contracts/index.ts';
import type { Broken, Input } from './bend.ts';
import { beside, holds } from './bend.ts';

const list = (input: Input): readonly SessionInput[] => {
  return Array.isArray(input) ? input : typeof input === 'string' ? [] : [input as SessionInput];
};

const looser = (tool: { name: string }) => (tool.name === 'add' ? { ...tool, inputSchema: { type: 'object' } } : tool);

/** Ids that begin anew in each turn, and what they stand for. */
function numbered() {
  let ids: string[] = [];
  return {
    begin: () => {
      ids = [];
    },
    shown: (event: AgentEvent) => {
      if (event.type !== 'tool_request' && event.type !== 'tool_response') return event;
      if (!ids.includes(event.requestId)) ids.push(event.requestId);
      return { ...event, requestId: `call-${ids.indexOf(event.requestId)}` };
    },
    meant: (id: string) => (id.startsWith('call-') ? String(ids[Number(id.slice(5))]) : id),
  };
}

export const tools: readonly Broken[] = [
  {
    id: 'CX-TOOL-01',
    how: 'arguments are shown in part',
    bend: () => ({
      show: (event) => (event.type === 'tool_request' && holds(event, 'deep') ? { ...event, args: { a: 1 } } : event),
    }),
  },
  {
    id: 'CX-TOOL-02',
    how: 'a response is shown twice',
    bend: () => ({
      show: (event) =>
        event.type === 'tool_response' && holds(event, 'forty-two')
          ? [event, beside(event, { ...event, id: `${event.id}+`, cursor: undefined })]
          : event,
    }),
  },
  {
    id: 'CX-TOOL-03',
    how: 'results pair with calls by their place',
    bend: () => ({
      stream(right, input, options) {
        const given = list(input) as readonly ToolResultInput[];
        const [first, second] = given;
        if (!first || !second || !holds(given, 'of-add')) return right.stream(input, options);
        const swapped = [
          { ...first, result: second.result },
          { ...second, result: first.result },
        ];
        return right.stream(swapped, options);
      },
    }),
  },
  {
    id: 'CX-TOOL-04',
    how: 'it does not wait for the second answer',
    bend() {
      const open: string[] = [];
      return {
        show(event) {
          if (event.type === 'tool_request') open.push(event.requestId);
          return event;
        },
        stream(right, input, options) {
          const [given] = list(input) as readonly ToolResultInput[];
          if (!given || !holds(given, '"second"')) return right.stream(input, options);
          const all = open.map((requestId) => ({ ...given, requestId }));
          return right.stream(all, options);
        },
      };
    },
  },
  {
    id: 'CX-TOOL-05',
    how: 'a failure is shown as a success',
    bend: () => ({
      show: (event) => {
        if (event.type !== 'tool_response' || !holds(event, 'disk is full')) return event;
        const { isError: _, ...rest } = event;
        return rest;
      },
    }),
  },
  {
    id: 'CX-TOOL-06',
    how: 'a denial is a failure like any other',
    bend: () => ({
      respond(right, id, answer) {
        if (!holds(answer, 'not today')) return right.respond(id, answer);
        const content = [{ type: 'text' as const, text: 'no' }];
        return right.respond(id, { kind: 'result', result: { content, isError: true, errorType: 'failed' } });
      },
    }),
  },
  {
    id: 'CX-TOOL-07',
    how: 'an answer is not told to be settled',
    bend: () => ({
      async respond(right, id, answer) {
        const settled = await right.respond(id, answer);
        return holds(answer, 'by respond') ? { ...settled, status: 'waiting_quorum' } : settled;
      },
    }),
  },
  {
    id: 'CX-TOOL-08',
    how: 'a second answer is told to count',
    bend: () => ({
      respond: (right, id, answer) => {
        return holds(answer, 'the second') ? Promise.resolve({ status: 'settled' }) : right.respond(id, answer);
      },
    }),
  },
  {
    id: 'CX-TOOL-09',
    how: 'an answer to nothing is taken',
    bend: () => ({
      respond: (right, id, answer) => {
        return id === 'no-such-request' ? Promise.resolve({ status: 'settled' }) : right.respond(id, answer);
      },
    }),
  },
  {
    id: 'CX-TOOL-10',
    how: 'the host is asked for any tool',
    bend: () => ({
      stream(right, input, options) {
        const stranger = { name: 'no_such_tool', description: '', inputSchema: { type: 'object' }, annotations: {} };
        return right.stream(input, { ...options, tools: [...(options?.tools ?? []), stranger] });
      },
    }),
  },
  {
    id: 'CX-TOOL-11',
    how: 'arguments are not checked',
    bend: () => ({
      stream: (right, input, options) => {
        return right.stream(
          input,
          options?.tools ? { ...options, tools: options.tools.map(looser) as never } : options,
        );
      },
    }),
  },
  {
    id: 'CX-TOOL-12',
    how: 'ids begin anew in each turn',
    bend() {
      const ids = numbered();
      let counts = false;
      return {
        stream(right, input, options) {
          if (typeof input === 'string') ids.begin();
          counts ||= holds(input, '"same":true') || holds(input, '\\"same\\":true');
          const given = list(input).map((item) => {
            return 'requestId' in item ? { ...item, requestId: ids.meant(item.requestId) } : item;
          });
          return right.stream(counts && typeof input !== 'string' ? (given as SessionInput[]) : input, options);
        },
        show: (event) => (counts ? ids.shown(event) : event),
      };
    },
  },
  {
    id: 'CX-TOOL-13',
    how: 'a call that is given up is told to have been interrupted',
    bend: () => ({
      show: (event, input) =>
        event.type === 'tool_response' && input === 'cx: say something else'
          ? { ...event, errorType: 'interrupted' }
          : event,
    }),
  },
];
