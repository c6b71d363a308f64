import { badInput } from '../../../session/index.ts';

/** What stands at the beginning of a SKILL.md. */
export interface SkillHead {
  readonly name: string;
  /** One line. */
  readonly description: string;
}

const MAX_NAME = 64;
const MAX_DESCRIPTION = 1024;
const isName = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const front = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)(?:^|\r?\n)---[ \t]*(?:\r?\n|$)/;

/**
 * Name and description of a skill, and what is behind them; `folder`: how it has to be called.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`, which names the file
 */
export async function splitSkill(text: string, file: string, folder: string): Promise<SkillHead & { body: string }> {
  const found = front.exec(text);
  if (!found) throw badInput(`${file}: it does not begin with name and description between two lines of ---`);
  const fields = await fieldsIn(found[1] ?? '', file);
  const { name, description } = fields;
  if (typeof name !== 'string' || name.length > MAX_NAME || !isName.test(name)) {
    throw badInput(`${file}: name is to be of small letters, digits and single hyphens, ${MAX_NAME} at most`);
  }
  if (name !== folder)
    throw badInput(`${file}: name is ${name}, and its folder is called ${folder}; call both the same`);
  const line = typeof description === 'string' ? oneLine(description) : '';
  if (line === '' || line.length > MAX_DESCRIPTION) {
    throw badInput(`${file}: description is to be a text of 1 to ${MAX_DESCRIPTION} characters`);
  }
  return { name, description: line, body: text.slice(found[0].length).trim() };
}

async function fieldsIn(yaml: string, file: string): Promise<Record<string, unknown>> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(yaml, { prettyErrors: false });
  const [fault] = document.errors;
  if (fault) throw badInput(`${file}: its first lines are no YAML: ${fault.message}`, fault);
  let fields: unknown;
  try {
    fields = document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    throw badInput(`${file}: its first lines are no plain YAML`, error);
  }
  return typeof fields === 'object' && fields !== null ? (fields as Record<string, unknown>) : {};
}

/** Whatever would begin a line of its own in the instructions is a space. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
}
