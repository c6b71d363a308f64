import type { CoxswainError, ExecutionOptions, SessionInput } from '../../contracts/index.ts';
import { joined, LazySet, nameOfPrincipal } from '../../session/index.ts';
import type { Handle, Hosted } from '../frame/index.ts';
import type { HostedRun } from '../run/index.ts';
import { beginTurn, goOnWithTurn } from '../terms/index.ts';
import { hostedCallsToJoin } from './joining.ts';
import { assertOwnTurn } from './others-turn.ts';

/** A stream that looks up what its turn is held to. */
interface Beginning {
  /** Why it is ended as soon as it has begun. */
  reason: CoxswainError | undefined;
  /** Undefined: it was refused. */
  readonly begun: Promise<HostedRun | undefined>;
}

/** Starts a stream that is held to these terms; `begun`: the trace context that its turn was begun with. */
export type StartRun = (held: ReturnType<typeof beginTurn>, begun?: Record<string, string>) => HostedRun;

/** The streams of one handle that do not run yet. */
export class Beginnings {
  readonly #session: Hosted;
  readonly #underWay = new LazySet<Beginning>();

  constructor(session: Hosted) {
    this.#session = session;
  }

  /** A stream begins, held to its turn's terms: those of a new one, or of the one that is gone on with. */
  async begin(inputs: readonly SessionInput[], options: ExecutionOptions, start: StartRun): Promise<HostedRun> {
    const { frame } = this.#session;
    // A sub-agent is told whose turn it is a part of, which says nothing of the roles of now.
    if (options.principal && frame.depth === 0)
      frame.shared.present.set(nameOfPrincipal(options.principal), options.principal);
    const who = options.principal ?? frame.shared.present.get(nameOfPrincipal(frame.principal)) ?? frame.principal;
    const { permissionMode: hostMode } = frame.options;
    const speaks = inputs.some(({ kind }) => kind === 'message');
    const joins = hostedCallsToJoin(this.#session, inputs);
    if (speaks && !joins) return start(beginTurn(options, who, hostMode, frame.calledBy, frame.present));
    const { promise: begun, resolve } = Promise.withResolvers<HostedRun | undefined>();
    const beginning: Beginning = { reason: undefined, begun };
    this.#underWay.add(beginning);
    let run: HostedRun | undefined;
    try {
      const calls = (await joins) ?? [];
      if (speaks && calls.length === 0) run = start(beginTurn(options, who, hostMode, frame.calledBy, frame.present));
      else {
        const standing = await this.#session.standing();
        if (speaks) assertOwnTurn(this.#session.id, standing, who);
        const given = calls.length > 0 ? { ...options, [joined]: calls } : options;
        run = start(goOnWithTurn(standing, given, who, hostMode, frame.present), standing.traceContext);
      }
      if (beginning.reason) run.abort(beginning.reason);
      return run;
    } finally {
      this.#underWay.delete(beginning);
      resolve(run);
    }
  }

  /** They are ended as soon as they have begun; what each has come to. */
  abort(reason: CoxswainError): Promise<HostedRun | undefined>[] {
    const begun: Promise<HostedRun | undefined>[] = [];
    for (const beginning of this.#underWay) {
      beginning.reason ??= reason;
      begun.push(beginning.begun);
    }
    return begun;
  }
}

/** Ends the streams that are about to begin, on whichever handle; false: there is none. */
export async function abortBeginnings(handles: Iterable<Handle>, reason: CoxswainError): Promise<boolean> {
  const runs = await Promise.all([...handles].flatMap((handle) => handle.beginnings.abort(reason)));
  await Promise.all(runs.map((run) => run?.ended));
  return runs.some((run) => run !== undefined);
}
