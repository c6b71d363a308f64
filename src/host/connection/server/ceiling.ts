import type {
  ExecutionOptions,
  PermissionMode,
  Principal,
  RequestAnswer,
  SessionInput,
  SessionUpdate,
} from '../../../contracts/index.ts';
import { CoxswainError, traitsOfMode } from '../../../contracts/index.ts';
import { withoutHostFacts } from '../../../session/link/index.ts';
import { strictnessOf } from '../../terms/index.ts';

/** What a remote client may ask for; everything that is not named here it may not. */
export interface ServerOptions {
  /** Loosest mode that a client may choose. Default: the host's own, else `default`. */
  permissionMode?: PermissionMode;
  /** Names of models that a client may choose. Default none: it takes what the agents have. */
  models?: readonly string[];
  /** Tools of the client may be offered to the agents, and run by the client. Default false. */
  clientTools?: boolean;
  /** `config` and initial state may be set. Default false. */
  config?: boolean;
}

/** Turns what a remote client asks for into what a host may be told: it may tighten, never loosen. */
export class Ceiling {
  readonly #options: ServerOptions;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  /** @throws CoxswainError `PERMISSION_DENIED / E_CEILING` */
  mode(mode: PermissionMode | null | undefined): void {
    if (mode === undefined || mode === null) return;
    const ceiling = this.#options.permissionMode ?? 'default';
    // One that is not known is as strict as `default` by policy, and refused here.
    if (!traitsOfMode(mode) || strictnessOf(mode) < strictnessOf(ceiling)) {
      throw refuse(`permission mode ${JSON.stringify(mode)} is looser than ${ceiling}`);
    }
  }

  /** Only what crosses a wire; @throws CoxswainError `E_CEILING` */
  stream(options: ExecutionOptions): ExecutionOptions {
    const { tools, excludeTools, model, streaming, permissionMode, whilePending, limits, traceContext } = options;
    this.mode(permissionMode);
    this.#model(model);
    this.#tools(tools);
    return {
      ...(tools === undefined ? {} : { tools }),
      ...(excludeTools === undefined ? {} : { excludeTools }),
      ...(model === undefined ? {} : { model }),
      ...(streaming === undefined ? {} : { streaming }),
      ...(permissionMode === undefined ? {} : { permissionMode }),
      ...(whilePending === undefined ? {} : { whilePending }),
      ...(limits === undefined ? {} : { limits }),
      ...(traceContext === undefined ? {} : { traceContext }),
    };
  }

  update(config: SessionUpdate): SessionUpdate {
    this.mode(config.permissionMode);
    this.#model(config.model ?? undefined);
    this.#tools(config.tools ?? undefined);
    if (config.config !== undefined && !this.#options.config) throw refuse('config is set by the server alone');
    return config;
  }

  /** @throws CoxswainError `E_CEILING` */
  state(state: unknown): void {
    if (state !== undefined && !this.#options.config) throw refuse('the state of a session is set by the server alone');
  }

  #model(model: string | undefined): void {
    if (model === undefined || this.#options.models?.includes(model)) return;
    throw refuse(`model ${JSON.stringify(model.slice(0, 64))} is none of those that the server lets a client choose`);
  }

  #tools(tools: readonly unknown[] | undefined): void {
    if (tools !== undefined && tools.length > 0 && !this.#options.clientTools) {
      throw refuse("tools of a client are not offered to this server's agents");
    }
  }
}

/** Whoever answers is who the connection says, not who the message says; a host's own words are taken out. */
export function answerBy(answer: RequestAnswer, by: Principal): RequestAnswer {
  return { ...withoutHostFacts(answer), by };
}

/** The same for answers that come as inputs of a stream. */
export function inputBy(
  input: string | SessionInput | SessionInput[],
  by: Principal,
): string | SessionInput | SessionInput[] {
  if (typeof input === 'string') return input;
  return [input].flat().map((item) => {
    if (item.kind === 'message' || item.kind === 'continue') return item;
    // A result is nobody's word: it says no more than what it is.
    if (item.kind === 'tool_result') return withoutHostFacts(item);
    return { ...withoutHostFacts(item), by };
  });
}

function refuse(what: string): CoxswainError {
  return new CoxswainError('PERMISSION_DENIED', 'E_CEILING', `${what}; ask for less, or let the server allow it`);
}
