/** The name that was surely meant: the same but for case, `-` and `_`, or one slip of the pen away. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const plain = plainly(name);
  return known.find((one) => plainly(one) === plain) ?? known.find((one) => isSlip(plain, plainly(one)));
}

const plainly = (name: string): string => name.toLowerCase().replace(/[-_ ]/g, '');

/** One letter too many, too few or wrong, or two of them swapped. Very short names differ by as much and mean something. */
function isSlip(given: string, known: string): boolean {
  if (known.length < 4 || Math.abs(given.length - known.length) > 1) return false;
  let at = 0;
  while (at < given.length && given[at] === known[at]) at++;
  const [rest, wanted] = [given.slice(at), known.slice(at)];
  if (rest.slice(1) === wanted || rest === wanted.slice(1) || rest.slice(1) === wanted.slice(1)) return true;
  return rest[0] === wanted[1] && rest[1] === wanted[0] && rest.slice(2) === wanted.slice(2);
}
