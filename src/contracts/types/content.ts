import type { z } from 'zod';
import type * as schema from '../schemas/content.ts';
import type { Closed } from '../values/index.ts';

export type TextPart = Closed<z.infer<typeof schema.textPart>>;
export type ThoughtPart = Closed<z.infer<typeof schema.thoughtPart>>;
export type MediaPart = Closed<z.infer<typeof schema.mediaPart>>;
export type ReferencePart = Closed<z.infer<typeof schema.referencePart>>;
export type RefusalPart = Closed<z.infer<typeof schema.refusalPart>>;
export type CitationPart = Closed<z.infer<typeof schema.citationPart>>;
export type CodePart = Closed<z.infer<typeof schema.codePart>>;
export type CodeResultPart = Closed<z.infer<typeof schema.codeResultPart>>;
export type FunctionCallPart = Closed<z.infer<typeof schema.functionCallPart>>;
export type FunctionResponsePart = Closed<z.infer<typeof schema.functionResponsePart>>;
/** A part of a kind that this version does not know; carried along untouched. */
export type StrangerPart = Closed<z.infer<typeof schema.strangerPart>>;

/** The one content model: what is stored, streamed and sent to models; conversion happens at provider edges only. */
export type ContentPart =
  | TextPart
  | ThoughtPart
  | MediaPart
  | ReferencePart
  | RefusalPart
  | CitationPart
  | CodePart
  | CodeResultPart
  | FunctionCallPart
  | FunctionResponsePart
  | StrangerPart;

export interface Content {
  role: 'user' | 'model';
  parts: ContentPart[];
}

/** For people; never sent to a model. */
export type DisplayContent = Closed<z.infer<typeof schema.displayContent>>;

/** Joins the text parts; thoughts and everything else are left out. */
export function textOfParts(parts: readonly ContentPart[]): string {
  let text = '';
  for (const part of parts) if (part.type === 'text') text += part.text;
  return text;
}
