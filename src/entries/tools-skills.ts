/**
 * Skills: folders of instructions that an agent loads when a task needs them.
 * Stability: experimental.
 *
 * @packageDocumentation
 */
export type { Skills } from '../adapters/tools/skills/index.ts';
export { loadSkills } from '../adapters/tools/skills/index.ts';
