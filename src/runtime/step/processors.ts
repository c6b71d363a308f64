import { CoxswainError } from '../../contracts/index.ts';
import type { AgentContext } from '../agent/index.ts';
import { outputFault } from '../agent/index.ts';
import type { Activation } from '../log/index.ts';
import { StateView } from '../log/index.ts';
import type { RequestDraft } from '../model/index.ts';
import { fillTemplate, hasPlaceholders } from './instructions.ts';
import type { Instruction, ModelUser, RequestProcessor } from './model-user.ts';
import { TRANSFER_TOOL, transferTargets } from './transfer.ts';
import { viewerOf } from './viewer-of.ts';

/** Generation settings of the agent. */
export const basicProcessor: RequestProcessor = {
  name: 'Basic',
  process({ agent }, draft) {
    Object.assign(draft.config, agent.generateContentConfig);
    if (agent.outputSchema) draft.outputSchema = agent.outputSchema;
  },
};

/** Declarations of the tools that are offered in this step. */
export const toolsProcessor: RequestProcessor = {
  name: 'Tools',
  process({ tools }, draft) {
    for (const [name, resolved] of tools) draft.tools.set(name, resolved.descriptor);
  },
};

/** Global and own instruction, templates filled from state. */
export const instructionsProcessor: RequestProcessor = {
  name: 'Instructions',
  process({ context, agent }, draft) {
    const { root } = context.place.tree;
    const inherited =
      agent.globalInstruction ?? ('globalInstruction' in root ? (root as ModelUser).globalInstruction : undefined);
    const { instruction } = agent;
    if (!isPlain(inherited) || !isPlain(instruction)) return fillIn(context, agent, [inherited, instruction], draft);
    append(draft, inherited ?? '');
    append(draft, instruction ?? '');
    return undefined;
  },
};

/** Text without placeholders, or none. */
function isPlain(instruction: Instruction | undefined): instruction is string | undefined {
  return instruction === undefined || (typeof instruction === 'string' && !hasPlaceholders(instruction));
}

async function fillIn(
  context: AgentContext,
  agent: ModelUser,
  instructions: readonly (Instruction | undefined)[],
  draft: RequestDraft,
): Promise<void> {
  for (const instruction of instructions) {
    if (instruction === undefined) continue;
    const state = new StateView({}, () => context.stateLayers());
    const text =
      typeof instruction === 'function'
        ? asText(agent.name, await instruction({ state, agentPath: context.agentPath, invocation: context.invocation }))
        : await fillTemplate(
            instruction,
            (key) => state.get(key),
            (name) => artifactText(context, name),
            agent.name,
          );
    append(draft, text);
  }
}

/** Whom the agent may hand over to. */
export const transferProcessor: RequestProcessor = {
  name: 'AgentTransfer',
  process({ context, agent, tools }, draft) {
    const targets = transferTargets(context.place.tree, agent);
    if (targets.length === 0 || !tools.has(TRANSFER_TOOL)) return;
    const lines = targets.map((target) => `- ${target.name}: ${target.description}`);
    append(
      draft,
      `If another agent is better placed to answer, call transfer_to_agent with its name. You can hand over to:\n${lines.join('\n')}`,
    );
  },
};

/** The history that the agent may see. */
export const contentsProcessor: RequestProcessor = {
  name: 'Contents',
  process({ context, agent }, draft) {
    const contents = context.invocation.session.contents(viewerOf(context, agent));
    if (contents instanceof Promise) return contents.then((read) => putContents(context, agent, draft, read));
    return putContents(context, agent, draft, contents);
  },
};

/** In this order. */
export const defaultProcessors: readonly RequestProcessor[] = [
  basicProcessor,
  toolsProcessor,
  instructionsProcessor,
  transferProcessor,
  contentsProcessor,
];

function putContents(
  { activation }: AgentContext,
  agent: ModelUser,
  draft: RequestDraft,
  contents: RequestDraft['contents'],
): Promise<void> | undefined {
  draft.contents = contents;
  if (!agent.outputSchema || !activation.final || contents.at(-1)?.role !== 'model') return undefined;
  return askForTheShape(agent, activation, draft);
}

/** The last answer did not fit: the model is told why when it is asked again. */
async function askForTheShape(
  agent: Parameters<typeof outputFault>[0],
  activation: Activation,
  draft: RequestDraft,
): Promise<void> {
  const fault = await outputFault(agent, activation);
  if (!fault) return;
  const text = `${fault.message}. Answer again, with nothing but JSON that fits it.`;
  draft.contents = [...draft.contents, { role: 'user', parts: [{ type: 'text', text }] }];
}

function append(draft: RequestDraft, text: string): void {
  if (text !== '')
    draft.systemInstruction = draft.systemInstruction === '' ? text : `${draft.systemInstruction}\n\n${text}`;
}

function asText(agent: string, text: unknown): string {
  if (typeof text === 'string') return text;
  const message = `the instruction function of agent ${agent} returned ${text === null ? 'null' : typeof text}; return text`;
  throw new CoxswainError('FAILED_PRECONDITION', 'E_INSTRUCTION', message, { details: { agent } });
}

async function artifactText(context: AgentContext, name: string): Promise<string | undefined> {
  const artifact = await context.invocation.services.artifacts({}).load(name);
  if (!artifact) return undefined;
  const bytes = Uint8Array.from(atob(artifact.data), (char) => char.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}
