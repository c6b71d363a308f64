/** As much of a text as a line holds. */
export function short(text: string, length = 120): string {
  const flat = text.replaceAll(/\s+/g, ' ').trim();
  return flat.length > length ? `${flat.slice(0, length).toWellFormed()}…` : flat;
}
