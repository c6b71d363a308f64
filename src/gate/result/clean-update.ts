import { isObject } from '../../base/index.ts';
import type { ToolUpdate } from '../../contracts/index.ts';
import { toDisplay, toJsonValue, toParts } from '../values/index.ts';
import { capSync, MAX_RESULT_BYTES } from './cap-result.ts';
import { normaliseReturn } from './normalise.ts';

/**
 * What a handler shows of its progress, as an event may have it: the members of an update alone, as JSON and within the
 * bounds of a result, so that it names neither its place in the log nor who let the call run. Anything else is shown as
 * content. Never throws.
 */
export function cleanUpdate(value: unknown): ToolUpdate {
  try {
    if (!isObject(value)) return { content: normaliseReturn(value, { maxBytes: MAX_RESULT_BYTES }).content };
    const { status, content, display, progress, total, _meta } = value;
    const capped =
      content === undefined ? undefined : capSync({ content: toParts(content) }, { maxBytes: MAX_RESULT_BYTES });
    const shown = toDisplay(display);
    const meta = toJsonValue(_meta);
    return {
      ...(typeof status === 'string' ? { status } : {}),
      ...(capped ? { content: capped.content } : {}),
      ...(shown ? { display: shown } : {}),
      ...(Number.isFinite(progress) ? { progress: progress as number } : {}),
      ...(Number.isFinite(total) ? { total: total as number } : {}),
      ...(isObject(meta) ? { _meta: meta } : {}),
    } as ToolUpdate;
  } catch {
    // Only what cannot even be looked at.
    return {};
  }
}
