import type { ReportedRequest } from '../../../contracts/index.ts';

/** What a card is. */
export const CARD_TYPE = 'text/html;profile=mcp-app';

const PREFIX = 'ui://coxswain/call/';
/** Characters of an address that are looked at. */
const MAX = 2_000;

/** Which call a card is about. */
export interface CardPlace {
  agent: string;
  sessionId: string;
  requestId: string;
}

/** Where a client that shows cards finds the one of an approval. */
export function cardUri({ agentPath, sessionId, requestId }: ReportedRequest): string {
  return PREFIX + Buffer.from(JSON.stringify([agentPath[0] ?? '', sessionId, requestId])).toString('base64url');
}

/** Undefined: it is no address of a card. */
export function placeOfCard(uri: string): CardPlace | undefined {
  if (!uri.startsWith(PREFIX) || uri.length > MAX) return undefined;
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(uri.slice(PREFIX.length), 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts) || parts.length !== 3 || !parts.every((part) => typeof part === 'string')) return undefined;
  const [agent = '', sessionId = '', requestId = ''] = parts as string[];
  return { agent, sessionId, requestId };
}

export const isCardUri = (uri: unknown): uri is string => typeof uri === 'string' && uri.startsWith('ui://coxswain/');
