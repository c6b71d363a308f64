import type { McpToolset } from '../../adapters/tools/mcp.ts';
import type { ApprovalQuestion, ReportedRequest, RequestAnswer, Session, ToolProvider } from '../../contracts/index.ts';
import { messageOf } from '../../contracts/index.ts';
import type { AgentModule } from '../../embed/index.ts';
import { createHost } from '../../embed/index.ts';
import { isForNamed } from '../../gate/index.ts';
import type { AgentHost, AnswerFor, HostOptions } from '../../host/index.ts';
import { Asker } from '../questions/index.ts';
import type { Interrupts, Screen } from '../terminal/index.ts';
import { clean, errorLine, hasKeyboard, paint } from '../terminal/index.ts';
import { isMade, loadAgentModule, moduleContext } from './agent-module.ts';
import type { HostFlags } from './flags.ts';
import { openMcpServers } from './mcp-servers.ts';
import { chooseModel, modelUse } from './model.ts';
import type { Nodes } from './nodes.ts';
import { moduleTools, openPolicy, policyWarning } from './policy-file.ts';
import type { Store } from './store.ts';
import { openWorkspaceStore } from './store.ts';

/** A host over one agent module and one store, for the length of a command. */
export interface ModuleHost {
  readonly host: AgentHost;
  readonly module: AgentModule;
  readonly agent: string;
  readonly store: Store;
  /** Named to the agent with each turn; undefined: its own. */
  readonly model: string | undefined;
  /** The turns to come name this one. @throws CoxswainError `NOT_FOUND / E_NO_MODEL` */
  useModel(name: string): void;
  /** A person can be asked at the terminal. */
  readonly asks: boolean;
  /** Tells the user what went wrong without consequence. */
  warn(message: string, error?: unknown): void;
  /** The session that questions belong to. */
  session: Session | undefined;
  /** A stream has ended: what it still asks at the terminal is taken back. */
  asksNoMore(): Promise<void>;
  close(): Promise<void>;
}

export interface ModuleHostOptions {
  screen: Screen;
  interrupts: Interrupts;
  asksElsewhere?: boolean;
  /** People elsewhere see a question while the run goes on, not only once it waits. */
  asksWhileItRuns?: boolean;
  /** Nothing waits for the tools of a server: one that cannot be reached is gone on without. */
  mayGoWithout?: boolean;
  /** Beside a module host that is open, and ended before it: over its store, with its module unless that is made anew. */
  beside?: ModuleHost;
  /** Folder that the module is made for, instead of the one that the flags name. */
  workspace?: string;
  /** What the module and the choice of a model tell goes here, instead of to the screen. */
  notes?: string[];
  /** What joins it to other programs over the same store. */
  nodes?: Pick<Nodes, 'dispatcher' | 'bus'>;
  /** Beside those of the module and of the flags. */
  toolProviders?: readonly ToolProvider[];
}

/** @throws CoxswainError for flags, module, policy or store that cannot be used */
export async function openModuleHost(path: string, flags: HostFlags, place: ModuleHostOptions): Promise<ModuleHost> {
  const servers: McpToolset[] = [];
  try {
    return await furnish(path, flags, place, servers);
  } catch (error) {
    // Their processes would keep this one alive.
    await Promise.all(servers.map((server) => server.close()));
    throw error;
  }
}

async function furnish(
  path: string,
  flags: HostFlags,
  place: ModuleHostOptions,
  servers: McpToolset[],
): Promise<ModuleHost> {
  const { screen, interrupts, asksElsewhere = false, asksWhileItRuns = false, mayGoWithout = false, beside } = place;
  const { workspace = flags.workspace, toolProviders = [] } = place;
  const source = flags.policy === undefined ? undefined : await openPolicy(flags.policy);
  const interactive = hasKeyboard() && !asksElsewhere;
  // Told once it is known that the model will do: until then a module may speak of one that nobody asked for.
  const notes: string[] = place.notes ?? [];
  let isLoading = true;
  const note = (text: string) => {
    if (isLoading) notes.push(clean(text));
    else screen.line(clean(text));
  };
  const choice = await chooseModel(flags.model, process.env);
  const context = moduleContext({ workspace, interactive, note, choice });
  const isShared = beside !== undefined && !(await isMade(path));
  const show = () => {
    for (const text of notes) screen.line(paint('dim', text));
  };
  const loaded = isShared
    ? beside.module
    : await loadAgentModule(path, context).catch((error: unknown) => {
        show();
        throw error;
      });
  const warn = (message: string, error?: unknown) => {
    screen.line(`coxswain: warning: ${clean(message)}${error === undefined ? '' : ` (${clean(messageOf(error))})`}`);
    if (flags.verbose && error !== undefined) screen.line(clean(String((error as Error).stack ?? error)));
  };
  const asks = interactive && flags.approve !== 'deny';
  const asker = new Asker(screen, interrupts, () => moduleHost.session);
  if (!isShared)
    servers.push(
      ...(await openMcpServers(flags.mcpServers, { mayAsk: asks || asksWhileItRuns, isOptional: mayGoWithout }, warn)),
    );
  const module = { ...loaded, toolProviders: [...(loaded.toolProviders ?? []), ...servers, ...toolProviders] };
  const use = modelUse(module, choice);
  isLoading = false;
  if (use.note !== undefined) notes.push(clean(use.note));
  if (!place.notes) show();
  const policy = await source?.make(await moduleTools(module), (line) => screen.line(policyWarning(line)));
  const store = beside?.store ?? (await openWorkspaceStore(flags.store));
  // Where nobody is here and nothing outlives this process, nobody can ever answer.
  const answerable = flags.approve !== 'deny' && (asks || asksElsewhere || store.durable || flags.approve === 'allow');
  const chosen = policy ?? module.policy;
  const host = createHost({
    app: flags.app,
    userId: flags.user,
    agents: [module.agent],
    store: store.sessions,
    interactive: answerable,
    warn,
    ...(place.nodes?.dispatcher ? { dispatcher: place.nodes.dispatcher } : {}),
    ...(place.nodes?.bus ? { bus: place.nodes.bus } : {}),
    ...(module.tools ? { tools: module.tools } : {}),
    toolProviders: module.toolProviders,
    ...(chosen ? { policy: chosen } : {}),
    ...(module.hooks ? { hooks: module.hooks } : {}),
    ...(module.deps === undefined ? {} : { deps: module.deps }),
    models: (name: string) => module.models?.(name) ?? choice.find(name),
    ...(module.prices ? { prices: module.prices } : {}),
    ...(module.limits ? { limits: module.limits } : {}),
    ...(flags.mode === undefined ? {} : { permissionMode: flags.mode }),
    ...admissionOf(flags),
    ...(flags.agentChanged === undefined ? {} : { onAgentChanged: flags.agentChanged }),
    ...approvers(flags, asks ? asker : undefined, { answerable, elsewhere: asksElsewhere }),
  });
  let { name } = use;
  const moduleHost: ModuleHost = {
    host,
    module,
    agent: host.agents[0]?.name ?? '',
    store,
    get model() {
      return name;
    },
    useModel(wanted) {
      // Another program's agent knows its own models.
      if ('run' in module.agent && !module.models?.(wanted)) choice.require(wanted);
      name = wanted;
    },
    asks,
    warn,
    session: undefined,
    asksNoMore: () => asker.asksNoMore(),
    async close() {
      try {
        await host.close();
      } finally {
        await Promise.all(servers.map((server) => server.close()));
        if (!beside) await store.close();
        if (!isShared) await module.close?.();
      }
    },
  };
  return moduleHost;
}

function admissionOf({ maxTurns, maxMemory }: HostFlags): Partial<Pick<HostOptions, 'admission'>> {
  if (maxTurns === undefined && maxMemory === undefined) return {};
  const memory = maxMemory === undefined ? {} : { memoryBytes: maxMemory * 1024 * 1024 };
  return { admission: { ...(maxTurns === undefined ? {} : { turns: maxTurns }), ...memory } };
}

interface Answering {
  onApproval?: AnswerFor<ApprovalQuestion>;
  onElicitation?: AnswerFor<ReportedRequest>;
}

function approvers(
  flags: HostFlags,
  asker: Asker | undefined,
  { answerable, elsewhere }: { answerable: boolean; elsewhere: boolean },
): Answering {
  const person: Answering = asker
    ? { onApproval: asker.approval, onElicitation: asker.elicitation }
    : elsewhere
      ? {}
      : { onElicitation: withdrawn };
  if (flags.approve === 'allow') {
    return {
      onApproval: (question, context) =>
        mayAllow(question) ? allow(question) : person.onApproval?.(question, context),
      onElicitation: (request, context) =>
        isYesOrNo(request) && !isForOthers(request)
          ? { kind: 'elicitation', action: 'accept', by: { id: 'cli' } }
          : person.onElicitation?.(request, context),
    };
  }
  // The host's own questions never come up then; an agent's own ones would wait for ever.
  if (!answerable) return { onElicitation: () => ({ kind: 'elicitation', action: 'decline', by: { id: 'cli' } }) };
  return person;
}

const isYesOrNo = ({ elicitation }: ReportedRequest) =>
  elicitation === 'tool_confirmation' || elicitation === 'user_approval';

/** Policy has named who answers for the call. */
const isForOthers = ({ requestId, questions = [] }: ReportedRequest) =>
  questions.some((put) => put.requestId === requestId && isForNamed(put));

/** What a call asks while it runs ends with this process: nobody could ever answer, and the call would wait for ever. */
function withdrawn({ running }: ReportedRequest): RequestAnswer | undefined {
  return running ? { kind: 'elicitation', action: 'cancel', by: { id: 'cli' } } : undefined;
}

/** A rule that names its approvers wants people; and whether a half-run call may run again nobody said beforehand. */
function mayAllow({ approval, kind }: ApprovalQuestion): boolean {
  return !isForNamed(approval) && kind !== 'rerun_unknown';
}

function allow({ approval }: ApprovalQuestion): RequestAnswer {
  return { kind: 'approve', previewDigest: approval.previewDigest, by: { id: 'cli' } };
}

/** What a failed clean-up says; it changes no exit code. */
export async function closeQuietly(moduleHost: ModuleHost): Promise<void> {
  try {
    await moduleHost.close();
  } catch (error) {
    process.stderr.write(`coxswain: warning: ${errorLine(error)}\n`);
  }
}
