import type { HostAnswer, SessionInput } from '../../contracts/index.ts';
import { HOST_FACTS } from '../../contracts/index.ts';

/** A caller's words without what only a host may say, whatever their kind: types do not hold at run time. */
export function withoutHostFacts<S extends HostAnswer | SessionInput>(said: S): S {
  const own = withoutKept(without(said));
  if (own.kind !== 'elicitation_response') return own;
  const response = without(own.response);
  return response === own.response ? own : { ...own, response };
}

/** Where the whole of a result is kept is said by the host that has kept it. */
function withoutKept<S extends HostAnswer | SessionInput>(said: S): S {
  if (!('result' in said) || said.result?._meta?.truncated === undefined) return said;
  const { truncated: _, ...meta } = said.result._meta;
  return { ...said, result: { ...said.result, _meta: meta } };
}

function without<S extends object>(said: S): S {
  if (!HOST_FACTS.some((fact) => fact in said)) return said;
  const copy: Partial<Record<string, unknown>> = Object.fromEntries(Object.entries(said));
  for (const fact of HOST_FACTS) delete copy[fact];
  return copy as S;
}
