import { hash } from 'node:crypto';
import type { AnyTool, CallInfo, DisplayContent } from '../../contracts/index.ts';
import { messageOf } from '../../contracts/index.ts';
import { capText, toDisplay, untilAborted } from '../../gate/index.ts';

const PREVIEW_TIMEOUT_MS = 10_000;

/** Bytes of JSON: a question has to fit into a message to those who answer it, with its arguments. */
const MAX_PREVIEW_BYTES = 1024 * 1024;

/** Pieces of one preview. */
const MAX_DISPLAYS = 10_000;

/** Bytes of what a preview failed with. */
const MAX_FAULT_BYTES = 10_000;

/**
 * What would happen, as the tool's author shows it: a copy, which the author cannot change later. What is none, or is
 * too large, is no preview: people are told so and see the arguments.
 */
export async function previewOf(
  tool: Pick<AnyTool, 'preview'> | undefined,
  args: Record<string, unknown>,
  signal: AbortSignal | undefined,
  infoWith: (signal: AbortSignal) => CallInfo,
): Promise<DisplayContent[]> {
  if (!tool?.preview) return [];
  const late = new AbortController();
  const fault = new Error(`it was not there within ${PREVIEW_TIMEOUT_MS} ms`);
  // It keeps the process: somebody waits for what comes after it.
  const timer = setTimeout(() => late.abort(fault), PREVIEW_TIMEOUT_MS);
  const limit = AbortSignal.any([late.signal, ...(signal ? [signal] : [])]);
  try {
    // One that ignores the signal must not hold up whoever waits.
    return shown(await untilAborted(tool.preview(args, infoWith(limit)), limit));
  } catch (error) {
    return noPreview(capText(messageOf(error), MAX_FAULT_BYTES));
  } finally {
    clearTimeout(timer);
  }
}

function shown(given: unknown): DisplayContent[] {
  const items: readonly unknown[] = Array.isArray(given) ? given : [given ?? []].flat();
  if (items.length > MAX_DISPLAYS) return noPreview(`it has ${items.length} pieces; ${MAX_DISPLAYS} at most are shown`);
  const displays: DisplayContent[] = [];
  // What cannot be shown is not left out: the rest would look like all of it.
  for (const [index, item] of items.entries()) {
    const [display] = toDisplay([item]) ?? [];
    if (!display) return noPreview(`piece ${index} of it is no display content`);
    displays.push(display);
  }
  const text = JSON.stringify(displays);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_PREVIEW_BYTES) return displays;
  // With its digest, so that a yes is bound to what it would have been.
  const sum = hash('sha256', text, 'hex');
  return noPreview(`it has ${bytes} bytes of JSON, of which ${MAX_PREVIEW_BYTES} at most are shown (SHA-256 ${sum})`);
}

function noPreview(why: string): DisplayContent[] {
  return [{ type: 'text', text: `There is no preview: ${why}` }];
}
