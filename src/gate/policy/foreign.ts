/** Tools of a foreign server describe themselves: what they say is a claim, and nobody's promise here. */
export const isForeign = (source: string | undefined): boolean => source?.startsWith('mcp:') ?? false;
