import { hash } from 'node:crypto';
import type { AnyTool, CallInfo, DisplayContent } from '../../contracts/index.ts';
import { canonicalJson, messageOf } from '../../contracts/index.ts';
import { capText, toDisplay, untilAborted } from '../../gate/index.ts';

const PREVIEW_TIMEOUT_MS = 10_000;

/** Bytes of JSON: a question has to fit into a message to those who answer it, with its arguments. */
const MAX_PREVIEW_BYTES = 1024 * 1024;

/** Pieces of one preview. */
const MAX_DISPLAYS = 10_000;

/** Bytes of what a preview failed with. */
const MAX_FAULT_BYTES = 10_000;

/** Questions whose previews did not come in time that are remembered of one tool. */
const MAX_LATE = 1_000;

/** One preview that is being made, for all who look at its question; kept where it did not come in time. */
interface Making {
  readonly shown: Promise<DisplayContent[]>;
  lookers: number;
  isOver: boolean;
  /** Nobody waits for it. */
  leave(): void;
}

const makings = new WeakMap<object, Map<string, Making>>();

/**
 * What would happen, as the tool's author shows it: a copy, which the author cannot change later. What is none, or is
 * too large, is no preview: people are told so and see the arguments. One that hangs is waited for once: all who look at
 * the question meanwhile share the wait, and later ones are told at once that it did not come in time.
 */
export async function previewOf(
  tool: Pick<AnyTool, 'preview'> | undefined,
  args: Record<string, unknown>,
  signal: AbortSignal | undefined,
  infoWith: (signal: AbortSignal) => CallInfo,
): Promise<DisplayContent[]> {
  if (!tool?.preview) return [];
  const controller = new AbortController();
  const info = infoWith(controller.signal);
  const key = canonicalJson([info.userId, info.sessionId, info.callId, args]);
  let ofTool = makings.get(tool);
  if (!ofTool) {
    ofTool = new Map();
    makings.set(tool, ofTool);
  }
  const making = ofTool.get(key) ?? begin(tool, args, info, controller, ofTool, key);
  making.lookers++;
  try {
    return await untilAborted(making.shown, signal);
  } catch (error) {
    return noPreview(capText(messageOf(error), MAX_FAULT_BYTES));
  } finally {
    if (--making.lookers === 0 && !making.isOver) making.leave();
  }
}

function begin(
  tool: Pick<AnyTool, 'preview'>,
  args: Record<string, unknown>,
  info: CallInfo,
  controller: AbortController,
  ofTool: Map<string, Making>,
  key: string,
): Making {
  const { signal } = controller;
  const fault = new Error(`it was not there within ${PREVIEW_TIMEOUT_MS} ms`);
  let isLate = false;
  // It keeps the process: somebody waits for what comes after it.
  const timer = setTimeout(() => {
    isLate = true;
    controller.abort(fault);
  }, PREVIEW_TIMEOUT_MS);
  const make = async () => {
    try {
      // One that ignores the signal must not hold up whoever waits.
      return shown(await untilAborted(tool.preview?.(args, info), signal));
    } catch (error) {
      return noPreview(capText(messageOf(error), MAX_FAULT_BYTES));
    } finally {
      clearTimeout(timer);
      making.isOver = true;
      if (!isLate) ofTool.delete(key);
      else if (ofTool.size > MAX_LATE)
        for (const [oldest, { isOver }] of ofTool)
          if (isOver) {
            ofTool.delete(oldest);
            break;
          }
    }
  };
  const made = Promise.withResolvers<DisplayContent[]>();
  const making: Making = {
    shown: made.promise,
    lookers: 0,
    isOver: false,
    leave() {
      ofTool.delete(key);
      controller.abort(new Error('nobody looks at its question any more'));
    },
  };
  ofTool.set(key, making);
  made.resolve(make());
  return making;
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
