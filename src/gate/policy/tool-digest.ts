import { hash } from 'node:crypto';
import type { ToolDescriptor } from '../../contracts/index.ts';
import { canonicalJson } from '../../contracts/index.ts';

const known = new WeakMap<ToolDescriptor, string>();

/**
 * What stands for a tool besides its name and source: a digest of all that a model, a policy or a person is told of it
 * (description, schemas, annotations, the server that it comes from). Kept with a frozen descriptor.
 */
export function toolDigest(tool: ToolDescriptor): string {
  const digest = known.get(tool);
  if (digest !== undefined) return digest;
  const made = hash('sha256', canonicalJson(tool), 'base64url');
  if (Object.isFrozen(tool)) known.set(tool, made);
  return made;
}
