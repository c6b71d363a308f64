import type { Content, ContentPart } from '../../contracts/index.ts';

/** What providers count for an image, about; other media count by their size. */
const IMAGE_TOKENS = 1600;
/** Of media that are no images, about: a page of a document is some tens of kilobytes. */
const BASE64_PER_TOKEN = 40;
/** What a provider adds for each message and each part, about. */
const PART_TOKENS = 4;

/**
 * Tokens that a text comes to, about: four characters of ASCII are one, each other character is one. Providers count in
 * ways of their own; this is for what none of them has counted yet.
 */
export function tokensOfText(text: string): number {
  let others = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) others++;
  return Math.ceil((text.length - others) / 4) + others;
}

/** Tokens that a message comes to, about. */
export function tokensOfContent({ parts }: Content): number {
  let tokens = PART_TOKENS;
  for (const part of parts) tokens += tokensOfPart(part);
  return tokens;
}

/** Tokens that a part comes to, about. */
export function tokensOfPart(part: ContentPart): number {
  if (part.type === 'text') return PART_TOKENS + tokensOfText(part.text);
  if (part.type === 'thought') return PART_TOKENS + tokensOfText(part.thought);
  if (part.type === 'media' || part.type === 'reference') return PART_TOKENS + tokensOfMedia(part);
  if (part.type !== 'function_response') return PART_TOKENS + tokensOfText(JSON.stringify(part));
  let tokens = 2 * PART_TOKENS + tokensOfText(part.name) + tokensOfText(JSON.stringify(part.response));
  for (const beside of part.content ?? []) tokens += tokensOfPart(beside);
  return tokens;
}

function tokensOfMedia(part: Extract<ContentPart, { type: 'media' | 'reference' }>): number {
  const text = part.type === 'reference' ? tokensOfText(part.text) : 0;
  if (part.mimeType?.startsWith('image/')) return text + IMAGE_TOKENS;
  return text + Math.ceil((part.data?.length ?? 0) / BASE64_PER_TOKEN);
}
