import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';
import { CoxswainError, isNestedDeeper, MAX_JSON_DEPTH } from '../../../contracts/index.ts';
import { PacedFrames } from './paced.ts';
import type { AcpSdk } from './sdk.ts';

/** Bytes of one frame that is read. */
const MAX_FRAME_BYTES = 32 * 1024 * 1024;
/** Around what a tool or a model said stand some levels of the frame's own. */
const MAX_FRAME_DEPTH = 2 * MAX_JSON_DEPTH;

/**
 * Frames of the protocol, as far as they may be read: what comes of a deeper one is not the same each time, and may fail
 * in code that nobody expects to. One that is over a bound ends the connection, and so does whoever asks and reads no answers.
 * @param who sent it, for the message
 * @param onFault told of it once: `INTERNAL / E_AGENT_PROTOCOL`, which names the bound
 */
export function boundedFrames(
  sdk: AcpSdk,
  { output, input }: { output: WritableStream<Uint8Array>; input: ReadableStream<Uint8Array> },
  who: string,
  onFault: (fault: CoxswainError) => void,
): Stream {
  const paced = new PacedFrames(who);
  const { readable, writable } = sdk.ndJsonStream(output, paced.input(input), { maxMessageBytes: MAX_FRAME_BYTES });
  const reader = readable.getReader();
  const checked = new ReadableStream<AnyMessage>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        if (isNestedDeeper(value, MAX_FRAME_DEPTH))
          throw overBound(who, `is nested more than ${MAX_FRAME_DEPTH} levels deep`);
        paced.came(value);
        controller.enqueue(value);
      } catch (error) {
        const isLarge = error instanceof sdk.MessageTooLargeError;
        const fault = isLarge ? overBound(who, `has more than ${MAX_FRAME_BYTES} bytes`, error) : error;
        if (fault instanceof CoxswainError) onFault(fault);
        controller.error(fault);
        // What comes behind it is not read.
        await reader.cancel(fault).catch(() => {});
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { readable: checked, writable: paced.writable(writable) };
}

function overBound(who: string, what: string, cause?: unknown): CoxswainError {
  const message = `${who} sent a frame that ${what}: its connection was ended`;
  return new CoxswainError('INTERNAL', 'E_AGENT_PROTOCOL', message, cause === undefined ? {} : { cause });
}
