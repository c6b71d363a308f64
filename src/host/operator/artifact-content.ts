import type { AgentSession } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { keepsArtifacts, keptArtifacts } from '../../session/index.ts';
import { HostedSession } from '../hosted/index.ts';

/** What of an artifact one answer carries. */
export interface ArtifactShown {
  name: string;
  /** Absent: there is no such artifact, or not this version of it. */
  version?: number;
  mimeType?: string;
  /** Bytes. */
  size?: number;
  /** Base64; absent where it is larger than an answer may be, or withheld. */
  data?: string;
  /** Why somebody who is not its owner is not given it. */
  withheld?: string;
}

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
  const found = await artifacts.load(name, version);
  if (!found) return { name };
  const { mimeType, data } = found;
  const size = Buffer.byteLength(data, 'base64');
  const shown = { name, version: found.version, mimeType, size };
  return size > MAX_BYTES || data.length > maxPayload / 2 ? shown : { ...shown, data };
}

/** The same of a session of somebody else: what a call has kept may have what policy hides of any of its calls. */
export function withheld(shown: ArtifactShown, hidesNothing: boolean): ArtifactShown {
  const { data, ...facts } = shown;
  if (data === undefined) return shown;
  // Other sessions of the same user write to it, and what is hidden in those is not known here.
  if (shown.name.startsWith('user:')) return { ...facts, withheld: 'it belongs to its user, and not to this session' };
  if (hidesNothing) return shown;
  return { ...facts, withheld: 'policy hides something in this session, which may be in it' };
}
