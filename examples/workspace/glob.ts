/**
 * Compiles a glob: `*` and `?` inside one name, `**` for any number of folders, `{a,b}`. A pattern without a slash
 * is matched against the file's name at any depth. Never backtracks over more than one star, so that no pattern
 * takes long.
 * @throws Error if the pattern is too long or has too many alternatives
 */
export function glob(pattern: string): (path: string) => boolean {
  if (pattern.length > 200) throw new Error('The pattern is too long: at most 200 characters.');
  const alternatives = expand(pattern.replace(/^\.\//, '').replace(/\/$/, '/**')).map((one) => one.split('/'));
  return (path) => {
    const names = path.split('/');
    return alternatives.some((segments) =>
      segments.length === 1 && segments[0] !== '**'
        ? matchName(segments[0]!, names.at(-1)!)
        : matchPath(segments, names),
    );
  };
}

function expand(pattern: string): string[] {
  let done: string[] = [''];
  let rest = pattern;
  for (let group = /\{([^{}]*)\}/.exec(rest); group !== null; group = /\{([^{}]*)\}/.exec(rest)) {
    const choices = group[1]!.split(',');
    const before = rest.slice(0, group.index);
    done = done.flatMap((start) => choices.map((choice) => start + before + choice));
    if (done.length > 50) throw new Error('The pattern has too many {a,b} alternatives: at most 50.');
    rest = rest.slice(group.index + group[0].length);
  }
  return done.map((start) => start + rest);
}

/** `reached` holds how many names may have been used up so far. */
function matchPath(segments: string[], names: string[]): boolean {
  let reached = new Set([0]);
  for (const segment of segments) {
    const next = new Set<number>();
    if (segment === '**') {
      for (let used = Math.min(...reached); used <= names.length; used++) next.add(used);
    } else {
      for (const used of reached) if (used < names.length && matchName(segment, names[used]!)) next.add(used + 1);
    }
    if (next.size === 0) return false;
    reached = next;
  }
  return reached.has(names.length);
}

function matchName(pattern: string, name: string): boolean {
  const wanted = [...pattern];
  const given = [...name];
  let at = 0;
  let star = -1;
  let resume = 0;
  for (let index = 0; index < given.length; ) {
    if (wanted[at] === '*') {
      star = at++;
      resume = index;
    } else if (wanted[at] === '?' || wanted[at] === given[index]) {
      at++;
      index++;
    } else if (star >= 0) {
      at = star + 1;
      index = ++resume;
    } else {
      return false;
    }
  }
  while (wanted[at] === '*') at++;
  return at === wanted.length;
}
