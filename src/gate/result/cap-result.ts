import { untilLate } from '../../base/index.ts';
import type { ContentPart, ToolResult } from '../../contracts/index.ts';
import { headOf, jsonBytes, partText, tailOf, textPart } from '../values/index.ts';
import type { Truncated } from './truncated.ts';
import { truncatedOf } from './truncated.ts';

/** Bytes of JSON that a model is given of one result. */
export const MAX_RESULT_BYTES = 1024 * 1024;

/** Milliseconds that keeping all that is too large of one result may take. */
const KEEP_MS = 30_000;

export interface CapLimit {
  /** Bytes of JSON text, UTF-8. Default 1 MiB. */
  maxBytes?: number | undefined;
}

export interface CapOptions extends CapLimit {
  /** Keeps what is too large and says under which name; it may choose another than the one proposed. */
  spill?: ((name: string, body: string | Uint8Array) => Promise<string>) | undefined;
  /** Names what is kept: `result-<callId>.json`. */
  callId?: string | undefined;
  /** Said behind the result, whatever is cut of it; counted with it. */
  note?: string | undefined;
  /** Fires when nobody waits for what is kept any more: of what is not by then the result says so. */
  signal?: AbortSignal | undefined;
}

/**
 * Bounds a result. Of a text above the limit the beginning and the end are left, each cut at a character; between the two it says how large
 * the whole was and under which name it is kept, or that the rest was dropped; `structuredContent` is left out then. Media and
 * references that take more than half of the limit together are replaced by such a line, as is a display above it.
 * `_meta.truncated` has the same facts for programs: a {@link Truncated}. One that the result has already is believed, so
 * that results from outside come without ({@link withoutTruncated}). Gives a promise only where something is kept; a `spill` that fails, or has not kept it within 30 s or before the signal fires, counts as none: the call has run,
 * and its result waits.
 */
export function capResult(given: ToolResult, options: CapOptions = {}): ToolResult | Promise<ToolResult> {
  const result = withShortWord(given);
  const { note, maxBytes = MAX_RESULT_BYTES } = options;
  const noted = (whole: ToolResult) =>
    note === undefined ? whole : { ...whole, content: [...whole.content, textPart(note)] };
  const plan = planOf(result, note === undefined ? maxBytes : maxBytes - jsonBytes(textPart(note)) - 1);
  if (!plan) return noted(result);
  if (!options.spill) return noted(cut(plan, new Map()));
  return spillAll(plan, options).then((kept) => noted(cut(plan, kept, options.signal?.aborted ? ABORTED : DROPPED)));
}

const DROPPED = 'the rest was dropped';
const ABORTED = 'the rest was dropped, since the run was aborted while it was being kept';

/** The same without a place to keep anything. */
export function capSync(given: ToolResult, options: CapLimit): ToolResult {
  const result = withShortWord(given);
  const plan = planOf(result, options.maxBytes ?? MAX_RESULT_BYTES);
  return plan ? cut(plan, new Map()) : result;
}

/** Characters of a word that says what something is: the name of an error, a media type. */
const MAX_WORD = 200;

function withShortWord(result: ToolResult): ToolResult {
  const { errorType } = result;
  if (errorType === undefined || errorType.length <= MAX_WORD) return result;
  return { ...result, errorType: shortened(errorType) };
}

const shortened = (word: string): string => (word.length > MAX_WORD ? `${word.slice(0, MAX_WORD)}…` : word);

/** A text alone as large as a model is given it; `rest` says where the whole is. */
export function capText(text: string, maxBytes = MAX_RESULT_BYTES, rest = DROPPED): string {
  // A character takes at most six bytes.
  if (text.length * 6 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const [head, tail] = endsOf(text, maxBytes);
  const note = `[cut: ${Buffer.byteLength(text)} bytes in all; ${rest}]`;
  return [head, note, ...(tail === '' ? [] : [tail])].join('\n');
}

/** Bytes below which a text is left with its beginning alone. */
const LEAST_TAIL = 100;

/** The beginning and the end of a text that is too long, of which the end has a third: what a program says last is often why. */
function endsOf(text: string, maxBytes: number): [head: string, tail: string] {
  const tail = Math.floor(maxBytes / 3);
  if (tail < LEAST_TAIL) return [headOf(text, Math.max(maxBytes, 0)), ''];
  return [headOf(text, maxBytes - tail), tailOf(text, tail)];
}

/** Room for the line that stands for a part left out; its artifact's name is not known yet. */
const STAND_IN_BYTES = 300;

interface Plan {
  result: ToolResult;
  maxBytes: number;
  /** Size of the whole. */
  bytes: number;
  /** Parts beside the text that do not fit. */
  large: ReadonlySet<ContentPart>;
  isTextCut: boolean;
  text: string;
}

type Kept = ReadonlyMap<ContentPart | 'text', string>;

function planOf(result: ToolResult, maxBytes: number): Plan | undefined {
  const { content, structuredContent, display } = result;
  const structuredBytes = jsonBytes(structuredContent);
  // The structured form and its text are one value said twice.
  const bytes = Math.max(jsonBytes(content), structuredBytes, jsonBytes(display), jsonBytes(result._meta));
  if (bytes <= maxBytes) return undefined;
  const large = new Set<ContentPart>();
  let room = maxBytes / 2;
  for (const part of content) {
    if (!isAttachment(part)) continue;
    const size = jsonBytes(part);
    if (size > room) large.add(part);
    else room -= size;
  }
  const text = content.flatMap((part) => partText(part) ?? []).join('\n');
  const attached = jsonBytes(content.filter((part) => isAttachment(part) && !large.has(part)));
  const beside = attached + large.size * STAND_IN_BYTES;
  const isTextCut =
    Math.max(jsonBytes(content.filter((part) => !isAttachment(part))), structuredBytes) + beside > maxBytes;
  return { result, maxBytes, bytes, large, isTextCut, text };
}

async function spillAll(plan: Plan, options: CapOptions): Promise<Kept> {
  const kept = new Map<ContentPart | 'text', string>();
  const late = new AbortController();
  try {
    await untilLate(keepAll(plan, options, kept, late.signal), KEEP_MS, options.signal);
  } catch {
    // As of one that fails: of what is not kept by now the model is told that it was dropped.
    late.abort();
  }
  return kept;
}

async function keepAll(
  { result, large, isTextCut, text }: Plan,
  options: CapOptions,
  kept: Map<ContentPart | 'text', string>,
  late: AbortSignal,
): Promise<void> {
  const keep = async (key: ContentPart | 'text', name: string, body: string | Uint8Array) => {
    if (late.aborted) return;
    try {
      const as = (await options.spill?.(name, body)) ?? name;
      if (!late.aborted) kept.set(key, as);
    } catch {
      // The model is told that it was dropped.
    }
  };
  // What was cut before is not kept over what it was cut from.
  const before = truncatedOf(result)?.artifacts.length ?? 0;
  const base = `result-${options.callId ?? 'call'}${before === 0 ? '' : `.${before}`}`;
  for (const [index, part] of result.content.entries()) {
    if (large.has(part)) await keep(part, `${base}-${index}.${extensionOf(part)}`, bodyOf(part));
  }
  const { structuredContent } = result;
  if (isTextCut && structuredContent !== undefined)
    await keep('text', `${base}.json`, JSON.stringify(structuredContent));
  else if (isTextCut) await keep('text', `${base}.txt`, text);
}

function cut(plan: Plan, kept: Kept, dropped: string = DROPPED): ToolResult {
  const { result, maxBytes, bytes, large, isTextCut } = plan;
  const { structuredContent, display, content, ...rest } = result;
  const standIns: ContentPart[] = [];
  const fitted = content.map((part) => {
    if (!large.has(part)) return part;
    const line = standIn(part, kept.get(part));
    standIns.push(line);
    return line;
  });
  const capped: ToolResult = {
    ...rest,
    content: isTextCut ? cutText(plan, fitted, standIns, kept.get('text'), dropped) : fitted,
  };
  if (structuredContent !== undefined && !isTextCut) capped.structuredContent = structuredContent;
  if (display) {
    const displayBytes = jsonBytes(display);
    const notice = `[display of ${displayBytes} bytes left out]`;
    capped.display = displayBytes <= maxBytes ? display : [{ type: 'text', text: notice }];
  }
  const meta = jsonBytes(result._meta) <= maxBytes ? result._meta : {};
  const before = truncatedOf(result);
  const truncated: Truncated = { bytes, artifacts: [...(before?.artifacts ?? []), ...kept.values()] };
  const wholeText = isTextCut ? (kept.get('text') ?? null) : before?.text;
  if (wholeText !== undefined) truncated.text = wholeText;
  return { ...capped, _meta: { ...meta, truncated } };
}

function cutText(
  { maxBytes, bytes, text }: Plan,
  fitted: readonly ContentPart[],
  standIns: readonly ContentPart[],
  name: string | undefined,
  dropped: string,
): ContentPart[] {
  const fate = name === undefined ? dropped : `the whole is kept as artifact "${name}"`;
  const note = textPart(`[cut: ${bytes} bytes in all; ${fate}]`);
  const attached = fitted.filter(isAttachment);
  const room = maxBytes - jsonBytes([textPart(''), note, textPart(''), ...standIns, ...attached]);
  const [head, tail] = endsOf(text, room);
  return [textPart(head), note, ...(tail === '' ? [] : [textPart(tail)]), ...standIns, ...attached];
}

function standIn(part: ContentPart, name: string | undefined): ContentPart {
  const fate = name === undefined ? 'too large, dropped' : `kept as artifact "${name}"`;
  const what = shortened(isAttachment(part) ? (part.mimeType ?? part.type) : part.type);
  const notice = `[${what}, ${Buffer.byteLength(bodyOf(part))} bytes: ${fate}]`;
  return { type: 'text', text: notice, _meta: { standIn: true } };
}

type Attachment = Extract<ContentPart, { type: 'media' | 'reference' }>;

function isAttachment(part: ContentPart): part is Attachment {
  return part.type === 'media' || part.type === 'reference';
}

function bodyOf(part: ContentPart): string | Uint8Array {
  if (!isAttachment(part)) return JSON.stringify(part);
  if (part.data !== undefined) return Buffer.from(part.data, 'base64');
  return part.type === 'reference' ? part.text : (part.uri ?? '');
}

function extensionOf(part: ContentPart): string {
  const fallback = isAttachment(part) && part.data === undefined ? 'txt' : 'bin';
  return /\/([a-z0-9]{1,20})$/.exec(isAttachment(part) ? (part.mimeType ?? '') : '')?.[1] ?? fallback;
}
