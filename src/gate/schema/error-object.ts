/** What of an error of the validator is read here: its own type is in a package that users need not have. */
export interface ErrorObject {
  keyword: string;
  /** A JSON pointer. */
  instancePath: string;
  params: Record<string, unknown>;
  message?: string;
}
