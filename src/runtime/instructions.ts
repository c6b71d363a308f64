import { CoxswainError } from '../contracts/index.ts';

/**
 * Fills `{key}`, `{app:key}`, `{key?}` and `{artifact.name}` in one pass; `{{` and `}}` are literal braces where a
 * placeholder would stand between them; everything else stays as it is, `${key}` of program text too.
 * @throws CoxswainError `FAILED_PRECONDITION / E_INSTRUCTION` naming the key that has no value and the agent
 */
export async function fillTemplate(
  template: string,
  lookUp: (key: string) => unknown,
  loadArtifact: (name: string) => Promise<string | undefined>,
  agent: string,
): Promise<string> {
  if (!template.includes('{')) return template;
  let result = '';
  let at = 0;
  for (const match of template.matchAll(escapedOrPlaceholder)) {
    result += template.slice(at, match.index);
    at = match.index + match[0].length;
    const [whole, escaped, key, optional] = match;
    if (escaped !== undefined) {
      result += `{${escaped}}`;
      continue;
    }
    if (key === undefined) {
      result += whole;
      continue;
    }
    const value = key.startsWith('artifact.') ? await loadArtifact(key.slice('artifact.'.length)) : lookUp(key);
    if (value === undefined || value === null) {
      if (optional === undefined) throw missing(key, agent);
      continue;
    }
    result += typeof value === 'string' ? value : JSON.stringify(value);
  }
  return result + template.slice(at);
}

const name = String.raw`(?:app:|user:|temp:)?[\p{ID_Start}_$][\p{ID_Continue}$]*|artifact\.[^{}\s?]+`;
/** `{{name}}` → the literal `{name}`; `{name}` and `{name?}` → values. */
const escapedOrPlaceholder = new RegExp(String.raw`\{\{((?:${name})\??)\}\}|(?<!\$)\{(${name})(\?)?\}`, 'gu');

function missing(key: string, agent: string): CoxswainError {
  return new CoxswainError(
    'FAILED_PRECONDITION',
    'E_INSTRUCTION',
    `the instruction of agent ${agent} needs {${key}}, which the state does not have; set it, or write {${key}?}`,
    { details: { key, agent } },
  );
}
