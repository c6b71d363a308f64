/** What a handler returned as JSON and content parts. */
export { headOf, jsonBytes, tailOf } from './head.ts';
export { BYTES_MIME, base64OfBytes, toJsonValue } from './json-value.ts';
export { isKnownPartType } from './part-shapes.ts';
export { partText, textPart, toDisplay, toParts } from './parts.ts';
