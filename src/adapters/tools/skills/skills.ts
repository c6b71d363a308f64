import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AnyTool } from '../../../contracts/index.ts';
import { CoxswainError, defineTool, messageOf } from '../../../contracts/index.ts';
import { badInput, checkIs, name as isName, pieceOf, visible } from '../../../session/index.ts';
import { SkillFolder } from './skill-file.ts';
import type { SkillHead } from './skill-head.ts';
import { splitSkill } from './skill-head.ts';

const MOST_SKILLS = 200;
/** Bytes of a SKILL.md, and of another file. */
const MOST_HEAD = 64 * 1024;
const MOST_FILE = 1024 * 1024;
/** Characters that are read of instructions, or of a file, at once. */
const PIECE = 20_000;

/** The skills of a folder, for an agent. */
export interface Skills {
  readonly list: readonly SkillHead[];
  /** What an agent has to know of them, to be put into its instruction; '' where there are none. */
  readonly instruction: string;
  /** `load_skill`, which reads one; no tool where there are none. */
  readonly tools: readonly AnyTool[];
}

/**
 * Skills: folders with a SKILL.md, which has a name and a description, then instructions. An agent is given names and
 * descriptions, and loads one by a tool when a task needs it. The tool only reads, and nothing outside of the skill's folder;
 * scripts of a skill run by whatever tools the agent has for that, and by no others.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for a folder that cannot be read, and a SKILL.md that is not as it should be
 * @example
 * ```ts
 * import { LlmAgent } from 'coxswain';
 * import { loadSkills } from 'coxswain/tools/skills';
 *
 * const skills = await loadSkills('./skills');
 * new LlmAgent({ name: 'clerk', instruction: () => `Help the customer.\n\n${skills.instruction}`, tools: [...skills.tools] });
 * ```
 */
export async function loadSkills(folder: string): Promise<Skills> {
  checkIs(folder, 'loadSkills: folder', isName);
  const skills = new Map<string, Skill>();
  for (const entry of await foldersIn(folder)) {
    const skill = await Skill.at(folder, entry);
    if (skill) skills.set(skill.name, skill);
    if (skills.size > MOST_SKILLS) throw badInput(`loadSkills: ${folder} has more than ${MOST_SKILLS} skills`);
  }
  if (skills.size === 0) return { list: [], instruction: '', tools: [] };
  const list = [...skills.values()].map(({ name, description }) => Object.freeze({ name, description }));
  return { list, instruction: instructionFor(list), tools: [toolFor(skills)] };
}

/** In order, so that an instruction is the same each time. A link is no folder. */
async function foldersIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
  } catch (error) {
    throw badInput(`loadSkills: folder ${folder} cannot be read: ${messageOf(error)}`, error);
  }
}

class Skill implements SkillHead {
  readonly name: string;
  readonly description: string;
  readonly #folder: SkillFolder;
  readonly #file: string;

  private constructor({ name, description }: SkillHead, folder: SkillFolder, file: string) {
    this.name = name;
    this.description = description;
    this.#folder = folder;
    this.#file = file;
  }

  /** Undefined: there is no SKILL.md. */
  static async at(parent: string, name: string): Promise<Skill | undefined> {
    const folder = await SkillFolder.at(join(parent, name));
    const file = join(parent, name, 'SKILL.md');
    try {
      const text = await folder.text('SKILL.md', MOST_HEAD);
      return text === undefined ? undefined : new Skill(await splitSkill(text, file, name), folder, file);
    } catch (error) {
      if (error instanceof CoxswainError && error.code === 'E_BAD_INPUT') throw error;
      throw badInput(`loadSkills: ${file}: ${messageOf(error)}`, error);
    }
  }

  /** Its instructions as they are now, and the names of its files. */
  async instructions(offset: number): Promise<string> {
    const text = await this.#folder.text('SKILL.md', MOST_HEAD);
    if (text === undefined) throw this.#missing('SKILL.md');
    const { body } = await splitSkill(text, this.#file, this.name);
    const files = (await this.#folder.files()).filter((path) => path !== 'SKILL.md');
    const list = `\n\nFiles of this skill:\n${files.map((path) => `- ${shown(path)}`).join('\n')}`;
    return pieceAt(files.length === 0 ? body : `${body}${list}`, offset);
  }

  async piece(path: string, offset: number): Promise<string> {
    const text = await this.#folder.text(path, MOST_FILE);
    if (text === undefined) throw this.#missing(path);
    return pieceAt(text, offset);
  }

  /** The same for one that lies elsewhere: where files are is nobody's business. */
  #missing(path: string): CoxswainError {
    return new CoxswainError('NOT_FOUND', 'E_TOOL', `skill ${this.name} has no file ${JSON.stringify(path)}`);
  }
}

function pieceAt(text: string, offset: number): string {
  const piece = pieceOf(text, offset, PIECE);
  return piece.isWhole ? text : `${piece.text}\n${piece.note}`;
}

/** A path is one line of the instructions, whatever the file is called: one with other characters stands there as JSON. */
function shown(path: string): string {
  const json = JSON.stringify(path);
  const isPlain = json === `"${path}"` && path.trim() === path && visible(path) === path;
  return isPlain ? path : visible(json, inUnits);
}

/** As JSON has them, so that they can be read back. */
function inUnits(characters: string): string {
  return characters.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function instructionFor(list: readonly SkillHead[]): string {
  const lines = list.map(({ name, description }) => `- ${name}: ${description}`);
  return `Skills are instructions for certain tasks. Where a task fits one of these, load it by load_skill before you begin, and do as it says:\n${lines.join('\n')}`;
}

function toolFor(skills: ReadonlyMap<string, Skill>): AnyTool {
  return defineTool({
    name: 'load_skill',
    description:
      'Reads the instructions of a skill, or a file of it. Give the name of the skill, and for a file its path as the instructions have it. Long instructions and files are read in pieces: offset says where a piece begins.',
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', enum: [...skills.keys()], description: 'Name of the skill.' },
        path: { type: 'string', description: 'Path of a file in the folder of the skill. Default: its instructions.' },
        offset: { type: 'integer', minimum: 0, description: 'Character of the text with which to begin. Default 0.' },
      },
      required: ['name'],
    },
    kind: 'read',
    annotations: { readOnly: true, idempotent: true },
    execute: ({ name, path, offset }) => {
      const skill = skills.get(String(name));
      if (!skill) throw new CoxswainError('NOT_FOUND', 'E_TOOL', `there is no skill ${JSON.stringify(name)}`);
      const from = Number(offset ?? 0);
      return path === undefined ? skill.instructions(from) : skill.piece(String(path), from);
    },
  });
}
