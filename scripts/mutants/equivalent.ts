import type { Survivor } from './report.ts';

/** Mutants that no caller can tell from the original, each with the reason. They are left out of the score. */
export interface Equivalent {
  fileName: string;
  /** The line of the code, without the space around it. */
  line: string;
  /** What is changed in it, and to what: every mutant of these texts on the line. */
  original: string;
  mutated: readonly string[];
  reason: string;
}

/** Of a listener to an abort, whether it leaves after the first one. */
function toldOnce(fileName: string, line: string): Equivalent[] {
  const reason = 'A signal tells of an abort once.';
  const common = { fileName, line, reason };
  return [
    { ...common, original: '{ once: true }', mutated: ['{}'] },
    { ...common, original: 'true', mutated: ['false'] },
  ];
}

/** Of what is waited for where there is something to wait for, whether that is asked. */
function awaitsNothing(fileName: string, name: string): Equivalent {
  const reason = 'To await nothing is to go on in the same piece of work.';
  return { fileName, line: `if (${name}) await ${name};`, original: name, mutated: ['true'], reason };
}

/** Of a look at much, whether others of the process are let in before it. */
function letsOthersIn(fileName: string, original: string): Equivalent {
  const reason = 'Whether others of the process are let in once more: only time differs.';
  const mutated = ['true', 'false', original.replace(' > ', ' >= '), original.replace(' > ', ' <= ')];
  return { fileName, line: `if (${original}) await breath();`, original, mutated, reason };
}

export const equivalents: readonly Equivalent[] = [
  ...toldOnce('src/runtime/hooks/hook-wait.ts', "else signal.addEventListener('abort', aborted, { once: true });"),
  ...toldOnce('src/runtime/hooks/callback-context.ts', "parent.addEventListener('abort', follow, { once: true });"),
  ...toldOnce('src/runtime/agent/abort.ts', "signal.addEventListener('abort', stop, { once: true });"),
  ...toldOnce('src/runtime/agent/abort.ts', "parent.addEventListener('abort', follow, { once: true });"),
  ...toldOnce('src/runtime/agent/abort.ts', "parent.addEventListener('abort', stop, { once: true });"),
  ...toldOnce('src/runtime/calls/run-agent-tool.ts', "cancelled.addEventListener('abort', stop, { once: true });"),
  ...toldOnce('src/host/mcp/http/turns.ts', "gone.addEventListener('abort', leave, { once: true });"),
  ...toldOnce('src/runtime/run/invocation.ts', "outer.addEventListener('abort', this.#follow, { once: true });"),
  ...toldOnce('src/host/questions/run-inputs.ts', "else signal.addEventListener('abort', follow, { once: true });"),
  letsOthersIn('src/host/approvals/open-questions.ts', 'places.length > 0'),
  letsOthersIn('src/host/run/judge-open.ts', 'open.length > MANY'),
  letsOthersIn('src/host/run/judge-open.ts', 'steps.length > MANY'),
  awaitsNothing('src/host/hosted/answer-checks.ts', 'loading'),
  awaitsNothing('src/host/hosted/hosted-session.ts', 'looking'),
  awaitsNothing('src/host/questions/judge.ts', 'loading'),
  awaitsNothing('src/host/run/inner-stream.ts', 'room'),
  awaitsNothing('src/host/run/judge-open.ts', 'rest'),
  awaitsNothing('src/host/run/run-calls.ts', 'making'),
  awaitsNothing('src/host/run/run-calls.ts', 'rest'),
  awaitsNothing('src/host/run/run-loop.ts', 'others'),
  awaitsNothing('src/host/subagents/subagent-stream.ts', 'room'),
  {
    fileName: 'src/runtime/live/live-log.ts',
    line: 'for (const event of events) if (sizeOf(event) > MANY) await this.#log.prepare(event);',
    original: 'sizeOf(event) > MANY',
    mutated: ['true', 'false', 'sizeOf(event) >= MANY', 'sizeOf(event) <= MANY'],
    reason:
      'Calls that are not made beforehand are made as their event is taken in: only how long that takes at a stretch differs.',
  },
  {
    fileName: 'src/runtime/live/live-log.ts',
    line: '.then(() => this.prepare(record.events))',
    original: '() => this.prepare(record.events)',
    mutated: ['() => undefined'],
    reason:
      'Calls that are not made beforehand are made as their event is taken in: only how long that takes at a stretch differs.',
  },
  {
    fileName: 'src/runtime/step/processors.ts',
    line: 'if (contents instanceof Promise) return contents.then((read) => putContents(context, agent, draft, read));',
    original: 'contents instanceof Promise',
    mutated: ['false'],
    reason: 'Whether there is something to read again was asked of the same history just before: it is here.',
  },
  {
    fileName: 'src/runtime/store/event-codec.ts',
    line: 'if (ms !== lastMs) {',
    original: 'ms !== lastMs',
    mutated: ['true'],
    reason: 'What is written again is the same text: only time is saved.',
  },
  {
    fileName: 'src/runtime/live/session-writes.ts',
    line: 'for (const event of events) if (sizeOf(event) > MANY) digests.set(event, await digestInPieces(event));',
    original: 'sizeOf(event) > MANY',
    mutated: ['true', 'false', 'sizeOf(event) >= MANY', 'sizeOf(event) <= MANY'],
    reason:
      'What is not digested beforehand is digested as it is linked: only how long that takes at a stretch differs.',
  },
  {
    fileName: 'src/runtime/live/session-leases.ts',
    line: 'if (lease.lastSeq > this.#session.fold.at) await this.#session.catchUp();',
    original: 'lease.lastSeq > this.#session.fold.at',
    mutated: ['true', 'lease.lastSeq >= this.#session.fold.at'],
    reason: 'Where nothing is new nothing is read: only time differs.',
  },
  {
    fileName: 'src/runtime/run/invocation.ts',
    line: 'if (!taken?.stored && lease.lastSeq > this.fold.at) await this.session.catchUp();',
    original: 'lease.lastSeq > this.fold.at',
    mutated: ['true', 'lease.lastSeq >= this.fold.at'],
    reason: 'Where nothing is new nothing is read: only time differs.',
  },
  {
    fileName: 'src/runtime/run/invocation.ts',
    line: 'if (this.fold.at > at) for (const event of this.session.since(at)) this.sink.event(event);',
    original: 'this.fold.at > at',
    mutated: ['true', 'this.fold.at >= at'],
    reason: 'Behind the newest event there is none.',
  },
  {
    fileName: 'src/runtime/calls/call-starts.ts',
    line: 'return Math.min(alone < 0 ? ready.length : alone, concurrency);',
    original: 'alone < 0',
    mutated: ['alone <= 0'],
    reason: 'That it is not 0 was asked just before.',
  },
  {
    fileName: 'src/runtime/session/answer-request.ts',
    line: "given.kind === 'result' && bounded",
    original: "given.kind === 'result'",
    mutated: ['true'],
    reason: 'Nothing but a result is bounded.',
  },
  {
    fileName: 'src/runtime/agent/turn-limits.ts',
    line: 'if (limits.tokens !== undefined && totalTokens(turn.usage) >= limits.tokens) {',
    original: 'limits.tokens !== undefined',
    mutated: ['true'],
    reason: 'No number is as large as one that is not there.',
  },
  {
    fileName: 'src/gate/run/run-queue.ts',
    line: 'if (rest) await rest;',
    original: 'rest',
    mutated: ['true', 'false'],
    reason: 'Only how long the work goes on at a stretch differs.',
  },
  {
    fileName: 'src/runtime/calls/run-agent-tool.ts',
    line: 'actions: Object.keys(stateDelta).length > 0 ? { stateDelta } : {},',
    original: 'Object.keys(stateDelta).length > 0',
    mutated: ['true', 'Object.keys(stateDelta).length >= 0'],
    reason: 'An event without a delta has an empty one.',
  },
  {
    fileName: 'src/runtime/store/in-memory-session.ts',
    line: 'session.joined = { own, app, user, state };',
    original: '{ own, app, user, state }',
    mutated: ['{}'],
    reason: 'What is put together again is the same: only time is saved.',
  },
  {
    fileName: 'src/gate/pattern/pattern-machine.ts',
    line: 'if (known.size < MAX_KNOWN) known.set(code, fits);',
    original: 'known.size < MAX_KNOWN',
    mutated: ['true', 'false', 'known.size <= MAX_KNOWN'],
    reason: 'What is not remembered is found out again: only time and memory differ.',
  },
  {
    fileName: 'src/gate/policy/asked-with.ts',
    line: 'if (args) asked.args = args;',
    original: 'args',
    mutated: ['true'],
    reason: 'A member that is undefined is not written into a log, and nobody looks for its name.',
  },
  {
    fileName: 'src/gate/pattern/effort.ts',
    line: 'if (owner && ofOwner !== undefined && left < start) leftOf.set(owner, ofOwner - (start - left));',
    original: 'left < start',
    mutated: ['true', 'left <= start'],
    reason: 'Where nothing was spent, what is written is what was there: only a place in memory is saved.',
  },
  {
    fileName: 'src/gate/pattern/pattern-syntax.ts',
    line: "const isLook = /^\\(\\?<?[=!]$/.test(open ?? '');",
    original: '/^\\(\\?<?[=!]$/',
    mutated: ['/^\\(\\?<?[=!]/', '/\\(\\?<?[=!]$/'],
    reason: 'What opens a group is matched whole before, and no other opening begins or ends like this.',
  },
  {
    fileName: 'src/gate/pattern/pattern-syntax.ts',
    line: "return isLook ? { type: 'look', ahead: !open?.includes('<'), negated: open?.at(-1) === '!', inner } : inner;",
    original: 'open?.at',
    mutated: ['open.at'],
    reason: 'Only what was opened looks ahead or behind: it is there.',
  },
  {
    fileName: 'src/gate/pattern/pattern-syntax.ts',
    line: 'return node && reader.isAtEnd ? node : undefined;',
    original: 'node && reader.isAtEnd',
    mutated: ['true', 'node || reader.isAtEnd'],
    reason:
      'Without a node there is nothing to return, and an engine compiles no pattern with a bracket too many, which alone ends one early.',
  },
  {
    fileName: 'src/gate/schema/schema-effort.ts',
    line: 'const before = part === undefined ? undefined : known.get(part);',
    original: 'part === undefined',
    mutated: ['false'],
    reason: 'Nothing is known of what is not there.',
  },
  {
    fileName: 'src/gate/schema/validator.ts',
    line: "found ||= typeof node.$id === 'string';",
    original: "typeof node.$id === 'string'",
    mutated: ['true'],
    reason: 'A validator of its own checks the same: only time and memory differ.',
  },
  {
    fileName: 'src/gate/values/part-shapes.ts',
    line: 'if (value._meta !== undefined && !object(value._meta)) delete value._meta;',
    original: 'value._meta !== undefined',
    mutated: ['true'],
    reason: 'To delete what is not there changes nothing, and JSON has no member that is undefined.',
  },
  {
    fileName: 'src/gate/schema/schema-refs.ts',
    line: 'if (name !== undefined) this.#anchors.set(name, [...(this.#anchors.get(name) ?? []), node]);',
    original: 'name !== undefined',
    mutated: ['true'],
    reason: 'A reference is text: what is kept under no name is never looked up.',
  },
  {
    fileName: 'src/gate/schema/schema.ts',
    line: '} catch {',
    original: '{\n    return true;\n  }',
    mutated: ['{}'],
    reason: 'What cannot be looked at is refused with the same code where it is converted.',
  },
  {
    fileName: 'src/gate/schema/schema.ts',
    line: 'return true;',
    original: 'true',
    mutated: ['false'],
    reason: 'What cannot be looked at is refused with the same code where it is converted.',
  },
  {
    fileName: 'src/gate/schema/validator.ts',
    line: 'spend(1);',
    original: 'spend(1);',
    mutated: [';'],
    reason: 'What follows spends more, and is refused there where nothing is left.',
  },
  {
    fileName: 'src/gate/schema/zod-schema.ts',
    line: "if (typeof at !== 'object' || at === null) return undefined;",
    original: 'at === null',
    mutated: ['false'],
    reason: 'The converter refers to schemas, which are reached through objects alone.',
  },
  {
    fileName: 'src/gate/schema/coerce.ts',
    line: 'hasChanged ||= parsed !== undefined;',
    original: 'parsed !== undefined',
    mutated: ['true'],
    reason: 'Where nothing has changed, the next look finds the same faults: only time is saved.',
  },
  {
    fileName: 'src/gate/schema/coerce.ts',
    line: '} catch {',
    original: '{\n    return undefined;\n  }',
    mutated: ['{}'],
    reason: 'What is no JSON has no value, and no value is of no type that is expected.',
  },
  {
    fileName: 'src/gate/policy/deny-overrides.ts',
    line: 'if (order !== 0) merged = order > 0 ? a : b;',
    original: 'order > 0',
    mutated: ['order >= 0'],
    reason: 'That it is not 0 was asked just before.',
  },
  {
    fileName: 'src/gate/schema/read-output.ts',
    line: 'if (!trimmed.startsWith(FENCE) || !trimmed.endsWith(FENCE) || trimmed.length < 2 * FENCE.length) return text;',
    original: 'trimmed.length < 2 * FENCE.length',
    mutated: ['false', 'trimmed.length <= 2 * FENCE.length'],
    reason: 'What is too short for two fences is no JSON, with them or without.',
  },
  {
    fileName: 'src/gate/schema/read-output.ts',
    line: 'if (!trimmed.startsWith(FENCE) || !trimmed.endsWith(FENCE) || trimmed.length < 2 * FENCE.length) return text;',
    original: '2 * FENCE.length',
    mutated: ['2 / FENCE.length'],
    reason: 'What is too short for two fences is no JSON, with them or without.',
  },
  {
    fileName: 'src/gate/pattern/pattern-machine.ts',
    line: 'if (error instanceof TooManyStates) return undefined;',
    original: 'error instanceof TooManyStates',
    mutated: ['true'],
    reason: 'Nothing else is thrown there: another fault would be one of the engine.',
  },
  {
    fileName: 'src/gate/pattern/pattern-machine.ts',
    line: '} catch (error) {',
    original: '{\n    if (error instanceof TooManyStates) return undefined;\n    throw error;\n  }',
    mutated: ['{}'],
    reason: 'Nothing else is thrown there: another fault would be one of the engine.',
  },
  {
    fileName: 'src/gate/pattern/pattern-machine.ts',
    line: 'if (!test) {',
    original: '!test',
    mutated: ['true'],
    reason: 'What is made again is the same test: only time and memory differ.',
  },
  {
    fileName: 'src/gate/schema/schema-effort.ts',
    line: 'this.#comparesItems ||= node.uniqueItems === true;',
    original: 'node.uniqueItems === true',
    mutated: ['true'],
    reason: 'A higher rough count is counted exactly: only time is saved.',
  },
  {
    fileName: 'src/gate/policy/tool-digest.ts',
    line: 'if (digest !== undefined) return digest;',
    original: 'digest !== undefined',
    mutated: ['false'],
    reason: 'What is made again is the same digest: only time is saved.',
  },
  {
    fileName: 'src/gate/schema/validate.ts',
    line: "typeof (value as Partial<PromiseLike<T>> | undefined)?.then === 'function';",
    original: '(value as Partial<PromiseLike<T>> | undefined)?.then',
    mutated: ['(value as Partial<PromiseLike<T>> | undefined).then'],
    reason: 'A check that gives nothing is refused, whichever fault is told.',
  },
  {
    fileName: 'src/gate/questions/obligations.ts',
    line: 'if (a.approvers ?? b.approvers) both.approvers = approvers;',
    original: 'a.approvers ?? b.approvers',
    mutated: ['a.approvers && b.approvers'],
    reason: 'Where one side has a rule, it is there already, as it is.',
  },
  {
    fileName: 'src/gate/schema/dialect.ts',
    line: "if (typeof node !== 'object' || node === null) continue;",
    original: 'node === null',
    mutated: ['false'],
    reason: 'Only objects are put there: the first one is a schema, the others were looked at.',
  },
  {
    fileName: 'src/gate/pattern/effort.ts',
    line: 'if (owner && ofOwner !== undefined && left < start) leftOf.set(owner, ofOwner - (start - left));',
    original: 'ofOwner !== undefined',
    mutated: ['true'],
    reason: 'An owner has an allowance, which is asked for just before.',
  },
  {
    fileName: 'src/gate/schema/schema-refs.ts',
    line: 'this.#known.set(ref, found);',
    original: 'this.#known.set(ref, found);',
    mutated: [';'],
    reason: 'What is looked up again is found again: only time is saved.',
  },
  {
    fileName: 'src/host/subagents/subagent-tree.ts',
    line: 'if (await child.subagents?.find({ requestId })) return child;',
    original: 'child.subagents?.find',
    mutated: ['child.subagents.find'],
    reason:
      'The host’s own tools are those of all its sessions: where a caller has agents among them, so have those that it calls.',
  },
  {
    fileName: 'src/host/run/repeats.ts',
    line: 'if (open.length > 0) this.#look(batch, open);',
    original: 'open.length > 0',
    mutated: ['true', 'open.length >= 0'],
    reason: 'Of nothing that is open nothing is found: only time is saved.',
  },
  {
    fileName: 'src/host/run/repeats.ts',
    line: 'if (told.size === 0) return;',
    original: 'told.size === 0',
    mutated: ['false'],
    reason: 'Of nothing that was told nothing is found: only time is saved.',
  },
  {
    fileName: 'src/host/run/run-calls.ts',
    line: 'if (this.#withheld.size === 0) return false;',
    original: 'this.#withheld.size === 0',
    mutated: ['false'],
    reason: 'What is not withheld is not found among what is open: only time is saved.',
  },
  {
    fileName: 'src/host/run/run-calls.ts',
    line: 'if (this.#starting.length === 0) return;',
    original: 'this.#starting.length === 0',
    mutated: ['false'],
    reason: 'Nothing is begun where nothing starts: only time is saved.',
  },
  {
    fileName: 'src/host/run/run-calls.ts',
    line: 'if (this.#controllers.size === 0) return;',
    original: 'this.#controllers.size === 0',
    mutated: ['false'],
    reason: 'Nothing is forgotten where nothing is kept: only time is saved.',
  },
  {
    fileName: 'src/host/run/run-calls.ts',
    line: 'if (answers.length > 0) this.#ready = this.#ready.filter(({ interim }) => interim);',
    original: 'answers.length > 0',
    mutated: ['true', 'answers.length >= 0'],
    reason: 'Where there are no answers, all of them stay.',
  },
  {
    fileName: 'src/host/questions/run-time-questions.ts',
    line: 'if (this.#next.size > 0) this.#next.delete(keyOf(session, callId));',
    original: 'this.#next.size > 0',
    mutated: ['true', 'this.#next.size >= 0'],
    reason: 'Nothing is taken out of an empty map: only time is saved.',
  },
  {
    fileName: 'src/host/questions/confirmation.ts',
    line: 'if (this.#open.size + this.#closed.size === 0) return undefined;',
    original: 'this.#open.size + this.#closed.size === 0',
    mutated: ['false'],
    reason: 'Nothing is found in empty maps: only time is saved.',
  },
  {
    fileName: 'src/host/terms/busy-clock.ts',
    line: 'this.#timer.unref?.();',
    original: 'this.#timer.unref?.()',
    mutated: ['this.#timer.unref()'],
    reason: 'A timer of Node has it.',
  },
  {
    fileName: 'src/host/run/run-questions.ts',
    line: 'this.#timer.unref?.();',
    original: 'this.#timer.unref?.()',
    mutated: ['this.#timer.unref()'],
    reason: 'A timer of Node has it.',
  },
  {
    fileName: 'src/host/run/run-hold.ts',
    line: 'timer.unref?.();',
    original: 'timer.unref?.()',
    mutated: ['timer.unref()'],
    reason: 'A timer of Node has it.',
  },
  {
    fileName: 'src/host/run/run-loop.ts',
    line: 'if ((end?.data.pending?.length ?? 0) > MANY) {',
    original: '(end?.data.pending?.length ?? 0) > MANY',
    mutated: ['true', 'false', '(end?.data.pending?.length ?? 0) >= MANY'],
    reason: 'Whether others of the process are let in once more: only time differs.',
  },
  {
    fileName: 'src/host/run/run-loop.ts',
    line: 'if ((end?.data.pending?.length ?? 0) > MANY) {',
    original: 'end?.data.pending?.length ?? 0',
    mutated: ['end?.data.pending?.length && 0'],
    reason: 'Whether others of the process are let in once more: only time differs.',
  },
  {
    fileName: 'src/host/approvals/explain-call.ts',
    line: 'if (!word) return undefined;',
    original: '!word',
    mutated: ['false'],
    reason: 'A call that is not open is in the log, or it was given up just before: there is a word on it.',
  },
  {
    fileName: 'src/host/run/run-loop.ts',
    line: 'if (signal.aborted) return { wentOn: false };',
    original: 'false',
    mutated: ['true'],
    reason: 'Whatever is said behind an abort, the run ends there: nobody looks at it.',
  },
  {
    fileName: 'src/host/run/run-loop.ts',
    line: 'if (signal.aborted) return { wentOn: false };',
    original: '{ wentOn: false }',
    mutated: ['{}'],
    reason: 'Whatever is said behind an abort, the run ends there: nobody looks at it.',
  },
  {
    fileName: 'src/host/run/repeats.ts',
    line: 'if (told.length > 0 && told.every(({ requestId }) => isOpen.has(requestId))) {',
    original: 'told.length > 0',
    mutated: ['true', 'told.length >= 0'],
    reason: 'Where nothing was told nothing is counted: only time is saved.',
  },
  {
    fileName: 'src/host/terms/held.ts',
    line: 'if (made.hasSubscribers) made.publish(host);',
    original: 'made.hasSubscribers',
    mutated: ['true'],
    reason: 'What is published on a channel that nobody has subscribed to reaches nobody.',
  },
  {
    fileName: 'src/host/questions/question-outcome.ts',
    line: 'const args = answer.args ?? (question.args === call.args ? undefined : question.args);',
    original: 'question.args === call.args',
    mutated: ['false'],
    reason: 'Arguments that are the call’s own are taken for no others.',
  },
  {
    fileName: 'src/host/run/hosted-run.ts',
    line: 'const watches = this.#budget.limits.usd !== undefined || this.session.frame.hasSubagents;',
    original: 'this.#budget.limits.usd !== undefined || this.session.frame.hasSubagents',
    mutated: ['true'],
    reason: 'What is seen without a limit of money changes nothing: only time is saved.',
  },
  {
    fileName: 'src/host/terms/busy-clock.ts',
    line: 'if (left <= MAX_TIMER_MS) this.#fire();',
    original: 'left <= MAX_TIMER_MS',
    mutated: ['left < MAX_TIMER_MS'],
    reason: 'At that very length the next timer, which has no length, fires.',
  },
  {
    fileName: 'src/host/mcp/turn/agent-tool.ts',
    line: "return typeof id === 'string' && id !== '' ? id : undefined;",
    original: "typeof id === 'string'",
    mutated: ['true'],
    reason: 'The arguments were checked: an id that is no text was refused.',
  },
  {
    fileName: 'src/host/mcp/turn/open-questions.ts',
    line: 'const { started, decision, answers = [] } = request;',
    original: '[]',
    mutated: ['["Stryker was here"]'],
    reason: 'A text has no action: it is no answer.',
  },
  {
    fileName: 'src/host/mcp/turn/call.ts',
    line: '...(sessionId === undefined ? {} : { sessionId }),',
    original: 'sessionId === undefined',
    mutated: ['false'],
    reason: 'An option that is undefined is one that is not given.',
  },
  {
    fileName: 'src/host/mcp/turn/content.ts',
    line: 'const kind = mimeType === undefined ? {} : { mimeType };',
    original: 'mimeType === undefined',
    mutated: ['false'],
    reason: 'A member that is undefined is not sent.',
  },
  {
    fileName: 'src/host/connection/server/store-methods.ts',
    line: '...(params.create === undefined ? {} : { create: params.create }),',
    original: 'params.create === undefined',
    mutated: ['false'],
    reason: 'A member that is undefined is one that is not given.',
  },
  {
    fileName: 'src/host/connection/protocol/json-rpc.ts',
    line: 'for (let index = 0; index < text.length; index++) {',
    original: 'index < text.length',
    mutated: ['index <= text.length'],
    reason: 'Behind the end there is no character that it looks for.',
  },
  {
    fileName: 'src/runtime/live/live-log.ts',
    line: 'if (this.from > 0 && !this.fold.callOf(requestId)) await this.whole();',
    original: 'this.from > 0',
    mutated: ['true', 'this.from >= 0'],
    reason: 'Where all of the log is here, there is nothing more for it to read.',
  },
  {
    fileName: 'src/runtime/live/live-session.ts',
    line: 'const [last] = page?.events ?? [];',
    original: '[]',
    mutated: ['["Stryker was here"]'],
    reason: 'Without a page its creation time differs already: the event is not looked at.',
  },
  {
    fileName: 'src/runtime/agents/composite-agents.ts',
    line: "return outcomes.some((outcome) => outcome.kind === 'done' && outcome.escalate)",
    original: "outcome.kind === 'done'",
    mutated: ['true'],
    reason: 'Where one has failed or waits, that one has been returned before.',
  },
  {
    fileName: 'src/runtime/agents/llm-agent.ts',
    line: 'return this.toolsets.length === 0 ? this.#offer(context, map, reader) : this.#withToolsets(context, map, reader);',
    original: 'this.toolsets.length === 0',
    mutated: ['false'],
    reason: 'Where there are none, the same is offered a microtask later.',
  },
  {
    fileName: 'src/runtime/step/processors.ts',
    line: 'if (!isPlain(inherited) || !isPlain(instruction)) return fillIn(context, agent, [inherited, instruction], draft);',
    original: '!isPlain(inherited) || !isPlain(instruction)',
    mutated: ['true'],
    reason: 'Text without placeholders is the same when they are filled in, a microtask later.',
  },
  {
    fileName: 'src/runtime/run/runner.ts',
    line: 'return all.length > 1 ? denyOverrides(...all) : all[0];',
    original: 'all.length > 1',
    mutated: ['all.length >= 1'],
    reason: 'What the strictest of one policy says is what that says.',
  },
  {
    fileName: 'src/runtime/session/given-back.ts',
    line: 'if (this.#waiting !== waiting) return;',
    original: 'this.#waiting !== waiting',
    mutated: ['false'],
    reason: 'Who has stopped is shown nothing, a look at the holder later.',
  },
  {
    fileName: 'src/runtime/session/open-requests.ts',
    line: 'return live.fold.open.size > MANY ? requestsOf(live, tree).make(live.fold) : undefined;',
    original: 'live.fold.open.size > MANY',
    mutated: ['true', 'false', 'live.fold.open.size >= MANY', 'live.fold.open.size <= MANY'],
    reason:
      'Requests that are not made beforehand are made as they are listed: only how long that takes at a stretch differs.',
  },
  {
    fileName: 'src/runtime/session/open-requests.ts',
    line: 'if (news) await news;',
    original: 'news',
    mutated: ['true'],
    reason: 'Where there is nothing to wait for, the same comes a microtask later.',
  },
  {
    fileName: 'src/runtime/store/in-memory-session.ts',
    line: "} else if (touch === 'asks' || (touch === 'ends' && session.questions)) {",
    original: "touch === 'ends'",
    mutated: ['true'],
    reason: 'What concerns no question changes nothing of them.',
  },
  {
    fileName: 'src/host/run/beside-inner.ts',
    line: 'const asked: ReportedRequest[] = [];',
    original: '[]',
    mutated: ['["Stryker was here"]'],
    reason: 'What has no time is watched for none.',
  },
  {
    fileName: 'src/host/run/call-starts.ts',
    line: 'if (!isPipeable(inner) || starts.length > AT_ONCE) return undefined;',
    original: 'starts.length > AT_ONCE',
    mutated: ['false', 'starts.length >= AT_ONCE'],
    reason:
      'Starts that are not stored by themselves go with the next stream: only how long that takes at a stretch differs.',
  },
  {
    fileName: 'src/host/run/run-hold.ts',
    line: 'this.#again = { ...options, withEvents: false };',
    original: 'false',
    mutated: ['true'],
    reason: 'The log that was read with it is read again where somebody wants it.',
  },
  {
    fileName: 'src/host/terms/agent-version.ts',
    line: 'ofHost.set(descriptor, present);',
    original: 'ofHost.set(descriptor, present);',
    mutated: [';'],
    reason: 'What is not kept is made again, and is the same.',
  },
  {
    fileName: 'src/runtime/agent/turn-limits.ts',
    line: 'if (limits.usd !== undefined && (turn.usage.cost?.usd ?? 0) >= limits.usd) {',
    original: 'limits.usd !== undefined',
    mutated: ['true'],
    reason: 'No number is as large as none.',
  },
  {
    fileName: 'src/runtime/live/partial-text.ts',
    line: 'if (this.#kept.size > MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);',
    original: 'oldest !== undefined',
    mutated: ['true'],
    reason: 'Where there are more than eight there is a first.',
  },
  {
    fileName: 'src/runtime/live/partial-text.ts',
    line: 'if (lengths.size > MOST_KEPT && oldest !== undefined) lengths.delete(oldest);',
    original: 'oldest !== undefined',
    mutated: ['true'],
    reason: 'Where there are more than eight there is a first.',
  },
  {
    fileName: 'src/runtime/live/partial-text.ts',
    line: 'this.#deaf?.();',
    original: 'this.#deaf?.()',
    mutated: ['this.#deaf()'],
    reason: 'It is made only where there is a bus, which gives the function.',
  },
  {
    fileName: 'src/runtime/live/partial-text.ts',
    line: "if (told.event.type !== 'message' || !Array.isArray(told.event.content)) return;",
    original: "told.event.type !== 'message'",
    mutated: ['false'],
    reason: 'What is no message is refused by the next look at it.',
  },
  {
    fileName: 'src/runtime/live/session-writes.ts',
    line: 'if (!events.some(({ actions }) => actions.started)) return events;',
    original: '!events.some(({ actions }) => actions.started)',
    mutated: ['false'],
    reason: 'Without a start each of them is as it was: only a list is saved.',
  },
  {
    fileName: 'src/runtime/log/fold.ts',
    line: 'if (actions.stateDelta !== noDelta) {',
    original: 'actions.stateDelta !== noDelta',
    mutated: ['true'],
    reason: 'What is empty changes nothing: only time is saved.',
  },
  {
    fileName: 'src/runtime/step/compaction.ts',
    line: '...(usage && what.model !== undefined ? { model: what.model } : {}),',
    original: 'what.model !== undefined',
    mutated: ['true'],
    reason: 'What a summary has cost comes with the model that it is of.',
  },
  {
    fileName: 'src/runtime/store/in-memory-session-service.ts',
    line: '[...sessions.keys()].filter((id) => id > first && id < last),',
    original: 'id < last',
    mutated: ['id <= last'],
    reason: 'No id has the character that the last one ends with.',
  },
  {
    fileName: 'src/runtime/store/question-rows.ts',
    line: "if (actions.decisions || hasResponse(content)) touch = 'ends';",
    original: 'actions.decisions || hasResponse(content)',
    mutated: ['true'],
    reason: 'What concerns no call changes nothing of questions.',
  },
  {
    fileName: 'src/runtime/store/question-rows.ts',
    line: 'ids?.delete(requestId);',
    original: 'ids?.delete',
    mutated: ['ids.delete'],
    reason: 'Each row that is deleted has been set, with its call.',
  },
];

export function reasonFor({ fileName, line, original, mutated }: Survivor): string | undefined {
  const found = equivalents.find(
    (one) =>
      one.fileName === fileName &&
      one.line === line &&
      one.original === original &&
      one.mutated.some((text) => text === mutated),
  );
  return found?.reason;
}
