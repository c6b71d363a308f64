/** Kinds that every provider takes, by how their bytes begin, in hexadecimal. */
const KINDS = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^474946383[79]61/],
  ['image/webp', /^52494646.{8}57454250/],
] as const;

export type ImageKind = (typeof KINDS)[number][0];

/** What bytes are, whatever is said of them; undefined for anything else than these four. */
export function kindOfImage(bytes: Buffer): ImageKind | undefined {
  const head = bytes.subarray(0, 16).toString('hex');
  return KINDS.find(([, begins]) => begins.test(head))?.[0];
}

/** Whether something is said to be of one of these kinds. */
export function isImageKind(mimeType: string): mimeType is ImageKind {
  return KINDS.some(([kind]) => kind === mimeType);
}
