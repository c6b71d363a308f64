/** Bytes of one event of a stream, or of a whole response that is none. */
const MAX_BYTES = 32 * 1024 * 1024;
const BLANK_LINES = ['\n\n', '\r\r', '\n\r\n'];
/** As much of a blank line as may stand at the end of a piece. */
const SEAM = 2;

/** `fetch` whose responses end with an error where there is more of one message than a process should hold. */
export const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const { body, status, headers } = response;
  if (!body) return response;
  if (status > 599) {
    await body.cancel();
    throw new Error(`the server has answered with the status ${status}`);
  }
  const isStream = headers.get('content-type')?.includes('text/event-stream') ?? false;
  return new Response(body.pipeThrough(bounded(isStream)), { status, headers });
};

function bounded(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let held = 0;
  let end = Buffer.alloc(0);
  return new TransformStream({
    transform(chunk, controller) {
      const piece = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const rest = isStream ? afterBlankLine(end, piece) : undefined;
      held = rest ?? held + piece.length;
      if (held > MAX_BYTES) throw new Error(`more than ${MAX_BYTES} bytes came of one message`);
      end = Buffer.from(piece.subarray(-SEAM));
      controller.enqueue(chunk);
    },
  });
}

/** Bytes that follow the last blank line; undefined: there is none. `before`: what came last. */
function afterBlankLine(before: Buffer, piece: Buffer): number | undefined {
  const last = Math.max(...BLANK_LINES.map((line) => piece.lastIndexOf(line)));
  if (last >= 0) return piece.length - last;
  const seam = Buffer.concat([before, piece.subarray(0, SEAM)]);
  return BLANK_LINES.some((line) => seam.includes(line)) ? piece.length : undefined;
}
