const BATCH = 256;
const BYTES = 16;
const LENGTH = 36;
const DASH = 0x2d;

/** The two digits of every byte, as character codes. */
const digits = Uint8Array.from({ length: 512 }, (_, n) => {
  const byte = n >> 1;
  return (n % 2 === 0 ? byte >> 4 : byte & 15).toString(16).charCodeAt(0);
});

let batch: string[] = [];

/**
 * A random UUID (version 4). Made in batches, since events are made on the hot path, and written out flat:
 * `crypto.randomUUID` gives a rope of twenty pieces, ten times the memory for as long as nobody looks into it.
 */
export function newId(): string {
  // In a browser: nobody makes them by the thousand there.
  if (typeof Buffer === 'undefined') return crypto.randomUUID();
  if (batch.length === 0) batch = makeBatch();
  return batch.pop() as string;
}

function makeBatch(): string[] {
  const random = crypto.getRandomValues(new Uint8Array(BATCH * BYTES));
  const text = Buffer.alloc(LENGTH, DASH);
  const ids: string[] = [];
  for (let from = 0; from < random.length; from += BYTES) ids.push(idOf(random, from, text));
  return ids;
}

/** By itself: what is called for each is compiled after a few of them, a loop that is left and entered again is not. */
function idOf(random: Uint8Array, from: number, text: Buffer): string {
  let at = 0;
  for (let n = 0; n < BYTES; n++) {
    if (n === 4 || n === 6 || n === 8 || n === 10) at++;
    let byte = random[from + n] as number;
    if (n === 6) byte = (byte & 0x0f) | 0x40;
    else if (n === 8) byte = (byte & 0x3f) | 0x80;
    text[at++] = digits[2 * byte] as number;
    text[at++] = digits[2 * byte + 1] as number;
  }
  return text.toString('latin1');
}
