import type { AgentSession, ArtifactShown } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { keepsArtifacts, keptArtifacts } from '../../session/index.ts';
import { HostedSession } from '../hosted/index.ts';

/** Bytes of an artifact that are sent at most. */
const MAX_BYTES = 1024 * 1024;

/**
 * An artifact of a session, as far as one message carries it.
 * @throws CoxswainError `UNIMPLEMENTED / E_UNSUPPORTED` where the executor has none to show, `INVALID_ARGUMENT / E_ID`
 */
export async function artifactContent(
  session: AgentSession,
  name: string,
  version: number | undefined,
  maxPayload: number,
): Promise<ArtifactShown> {
  const inner = session instanceof HostedSession ? session.inner : session;
  const artifacts = keepsArtifacts(inner) ? inner[keptArtifacts]() : undefined;
  if (!artifacts) {
    const message = `the agent of session ${session.id} does not show artifacts`;
    throw new CoxswainError('UNIMPLEMENTED', 'E_UNSUPPORTED', message);
  }
  const measured = await artifacts.measure?.(name, version);
  // One that is too large to be sent is not read.
  if (measured && isTooLarge(measured.size, maxPayload)) return { name, ...measured };
  const found = await artifacts.load(name, measured?.version ?? version);
  if (!found) return { name };
  const { mimeType, data } = found;
  const size = Buffer.byteLength(data, 'base64');
  const shown = { name, version: found.version, mimeType, size };
  return isTooLarge(size, maxPayload) ? shown : { ...shown, data };
}

const isTooLarge = (size: number, maxPayload: number): boolean =>
  size > MAX_BYTES || Math.ceil(size / 3) * 4 > maxPayload / 2;

/** The same of a session of somebody else: what a call has kept may have what policy hides of any of its calls. */
export function withheld(shown: ArtifactShown, hidesNothing: boolean): ArtifactShown {
  const { data, ...facts } = shown;
  if (data === undefined) return shown;
  // Other sessions of the same user write to it, and what is hidden in those is not known here.
  if (shown.name.startsWith('user:')) return { ...facts, withheld: 'it belongs to its user, and not to this session' };
  if (hidesNothing) return shown;
  return { ...facts, withheld: 'policy hides something in this session, which may be in it' };
}
