import { CoxswainError } from '../../../contracts/index.ts';
import { Tool } from '../../../dispatch/index.ts';
import type { AcpFiles } from './client.ts';

export type ReadRequest = Parameters<NonNullable<AcpFiles['readTextFile']>>[0];
export type WriteRequest = Parameters<NonNullable<AcpFiles['writeTextFile']>>[0];

/** Runs a tool through the gate, as long as the agent waits for it. */
type Run = (tool: Tool, args: Record<string, unknown>) => Promise<unknown>;

/**
 * @param over nothing is done for the agent any more
 * @throws CoxswainError `PERMISSION_DENIED / E_REFUSED`
 */
export async function readFile(
  request: ReadRequest,
  { readTextFile }: AcpFiles,
  over: AbortSignal,
  run: Run,
): Promise<string> {
  let text: string | undefined;
  const tool = new Tool({
    name: 'acp:read_text_file',
    description: 'The agent reads a file through its host.',
    kind: 'read',
    annotations: { readOnly: true },
    handler: async (args, { signal }) => {
      over.throwIfAborted();
      text = await readTextFile?.(args as ReadRequest, signal);
      return text ?? '';
    },
  });
  await run(tool, request);
  if (text === undefined) throw fileRefused(request.path);
  return text;
}

/** What a file holds, for the host's own use; undefined: it cannot be read, or is not there. */
export async function textOfFile(
  path: string,
  { readTextFile }: AcpFiles,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return await readTextFile?.({ path }, signal);
  } catch {
    return undefined;
  }
}

/**
 * @param isShown somebody has said yes to a call that showed this very change
 * @throws CoxswainError `PERMISSION_DENIED / E_REFUSED`
 */
export async function writeFile(
  request: WriteRequest,
  { writeTextFile }: AcpFiles,
  isShown: boolean,
  over: AbortSignal,
  run: Run,
): Promise<void> {
  let written = false;
  const tool = new Tool({
    name: 'acp:write_text_file',
    description: 'The agent writes a file through its host.',
    kind: 'edit',
    needsApproval: !isShown,
    handler: async (args, { signal }) => {
      over.throwIfAborted();
      await writeTextFile?.(args as WriteRequest, signal);
      written = true;
      return 'written';
    },
  });
  await run(tool, request);
  if (!written) throw fileRefused(request.path);
}

export function fileRefused(path: string): CoxswainError {
  return new CoxswainError('PERMISSION_DENIED', 'E_REFUSED', `the host does not allow it: ${path}`);
}
