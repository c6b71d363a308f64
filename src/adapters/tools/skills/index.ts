/** Skills of a folder: instructions that an agent loads when it needs them. */
export type { Skills } from './skills.ts';
export { loadSkills } from './skills.ts';
