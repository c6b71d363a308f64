import { CoxswainError, isCoxswainError, messageOf } from '../../contracts/index.ts';

/** Whether there may be anything to fill in. */
export function hasPlaceholders(template: string): boolean {
  return template.includes('{');
}

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
  if (!hasPlaceholders(template)) return template;
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
    const value = key.startsWith(ARTIFACT) ? await artifactOf(key, loadArtifact, agent) : lookUp(key);
    if (value === undefined || value === null) {
      if (optional === undefined) throw missing(key, agent);
      continue;
    }
    result += typeof value === 'string' ? value : JSON.stringify(value);
  }
  return result + template.slice(at);
}

const ARTIFACT = 'artifact.';

async function artifactOf(
  key: string,
  load: (name: string) => Promise<string | undefined>,
  agent: string,
): Promise<string | undefined> {
  try {
    return await load(key.slice(ARTIFACT.length));
  } catch (error) {
    // A store that fails may be back soon; the rest is for whoever wrote the instruction.
    if (!isCoxswainError(error) || error.retryable || error.status === 'UNAVAILABLE') throw error;
    const message = `the instruction of agent ${agent} needs {${key}}, which could not be loaded: ${messageOf(error)}`;
    throw new CoxswainError('FAILED_PRECONDITION', 'E_INSTRUCTION', message, { cause: error, details: { key, agent } });
  }
}

/** Names of artifacts hold no separators; one with a space cannot stand here. */
const name = String.raw`(?:app:|user:|temp:)?[\p{ID_Start}_$][\p{ID_Continue}$]*|artifact\.[^{}\s?/\\]+`;
/** `{{name}}` → the literal `{name}`; `{name}` and `{name?}` → values. */
const escapedOrPlaceholder = new RegExp(String.raw`\{\{((?:${name})\??)\}\}|(?<!\$)\{(${name})(\?)?\}`, 'gu');

function missing(key: string, agent: string): CoxswainError {
  const where = key.startsWith(ARTIFACT)
    ? 'which is no artifact of this session; save it'
    : 'which the state does not have; set it';
  return new CoxswainError(
    'FAILED_PRECONDITION',
    'E_INSTRUCTION',
    `the instruction of agent ${agent} needs {${key}}, ${where}, or write {${key}?}`,
    { details: { key, agent } },
  );
}
